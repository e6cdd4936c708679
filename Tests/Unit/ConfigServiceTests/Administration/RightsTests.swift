import ConfigService
import ContractRuntime
import Contracts
import Faults
import Foundation
import Testing

@Suite("Rights of administrators", .eachEngine)
struct RightsTests {
    private typealias Who = AdministrationWorld.Who
    private typealias Call = @Sendable (AdministrationWorld, String) async throws -> Void

    /// The administrators who may act on an object of harbor; all others are refused for their role.
    private static let calls: [(name: String, allowed: Set<AdministrationWorld.Who>, call: Call)] = [
        (
            "get", [.olga, .ed, .vic],
            { _ = try await $0.service.getEntity(GetEntityRequest(token: $1, kind: .requestor, id: "NEWS"), context: CallContext()) }
        ),
        (
            "list", [.olga, .ed, .vic, .rita],
            { _ = try await $0.service.listEntities(ListEntitiesRequest(token: $1, kind: .mvpd), context: CallContext()) }
        ),
        ("versions", [.olga, .ed, .vic, .rita], { _ = try await $0.service.listVersions(ListVersionsRequest(token: $1), context: CallContext()) }),
        (
            "audit", [.olga, .ed, .vic, .rita],
            { _ = try await $0.service.listAuditRecords(ListAuditRecordsRequest(token: $1), context: CallContext()) }
        ),
        (
            "report", [.olga, .ed, .vic, .rita],
            { _ = try await $0.service.getReport(GetReportRequest(token: $1, kind: .sso), context: CallContext()) }
        ),
        (
            "create", [.olga, .ed, .rita],
            { _ = try await $0.service.createEntity(CreateEntityRequest(token: $1, kind: .requestor), context: CallContext()) }
        ),
        (
            "create programmer", [.olga],
            { _ = try await $0.service.createEntity(CreateEntityRequest(token: $1, kind: .programmer), context: CallContext()) }
        ),
        (
            "delete MVPD", [.olga],
            { _ = try await $0.service.deleteEntity(DeleteEntityRequest(token: $1, kind: .mvpd, id: "Trial"), context: CallContext()) }
        ),
        (
            "replace MVPD", [.olga],
            { _ = try await $0.service.replaceEntity(ReplaceEntityRequest(token: $1, kind: .mvpd, id: "Trial"), context: CallContext()) }
        ),
        ("draft", [.olga, .ed, .rita], { _ = try await $0.service.getDraft(GetDraftRequest(token: $1), context: CallContext()) }),
        ("discard", [.olga, .ed, .rita], { _ = try await $0.service.discardDraft(DiscardDraftRequest(token: $1), context: CallContext()) }),
        ("push", [.olga, .ed, .rita], { _ = try await $0.service.pushDraft(PushDraftRequest(token: $1, description: "x"), context: CallContext()) }),
        (
            "statement", [.olga, .ed],
            {
                _ = try await $0.service.downloadSoftwareStatement(
                    DownloadSoftwareStatementRequest(token: $1, applicationID: "news-tv"), context: CallContext())
            }
        ),
        (
            "revoke statements", [.olga],
            {
                _ = try await $0.service.revokeSoftwareStatements(
                    RevokeSoftwareStatementsRequest(token: $1, applicationID: "news-tv"), context: CallContext())
            }
        ),
        ("verify", [.olga], { _ = try await $0.service.verifyHistory(VerifyHistoryRequest(token: $1), context: CallContext()) }),
        (
            "degrade", [.olga, .ed],
            {
                _ = try await $0.service.startDegradation(
                    StartDegradationRequest(token: $1, kind: .authnAll, requestorID: "NEWS"), context: CallContext())
            }
        ),
        (
            "revoke client", [.olga],
            {
                _ = try await $0.service.checkAdministrator(
                    CheckAdministratorRequest(token: $1, permission: .revokeClient, subject: "client 1"), context: CallContext())
            }
        ),
        (
            "support", [.olga, .ed],
            {
                _ = try await $0.service.checkAdministrator(
                    CheckAdministratorRequest(token: $1, permission: .support, requestorID: "NEWS"), context: CallContext())
            }
        ),
        (
            "upstream", [.olga],
            {
                _ = try await $0.service.checkAdministrator(
                    CheckAdministratorRequest(token: $1, permission: .upstream, subject: "vendor checked"), context: CallContext())
            }
        ),
    ]

    @Test("dashboard #1: each role may do what it is for, and a viewer's writing calls are refused")
    func matrix() async throws {
        let admin = try await AdministrationWorld()
        for (name, allowed, call) in Self.calls {
            for who in [Who.olga, .ed, .vic, .rita, .proxy, .stranger] {
                let code = try await code { try await call(admin, who.token) }
                switch who {
                case .stranger: #expect(code == .accessDenied, "\(name) as \(who)")
                case _ where allowed.contains(who): #expect(code == nil, "\(name) as \(who)")
                default: #expect(code == .insufficientRole || code == .notFound && who == .rita, "\(name) as \(who)")
                }
            }
        }
    }

    @Test("dashboard #2: objects of another programmer do not exist: not alone, not in lists, searches, reports and comparisons")
    func foreignObjects() async throws {
        let admin = try await AdministrationWorld()
        let first = admin.published.configuration.version
        for (kind, id) in [(EntityKind.requestor, "SPORT"), (.programmer, "reef"), (.integration, "SPORT/TinyCable"), (.application, "sport-tv")] {
            #expect(try await code { try await admin.get(kind, id, as: .ed) } == .notFound)
            #expect(try await code { try await admin.edit(kind, id, as: .ed) { $0["name"] = "x" } } == .notFound)
            #expect(try await admin.list(kind, as: .ed).entities.contains { $0.id == id } == false)
        }
        #expect(try await code { try await admin.delete(.requestor, "SPORT", as: .ed) } == .notFound)
        #expect(try await admin.list(.requestor, "spo", as: .vic).total == 0)
        #expect(try await admin.list(.mvpd, as: .vic).total == 2)
        try await admin.edit(.requestor, "SPORT", as: .rita) { $0["name"] = "Games" }.changed()
        try await admin.push("Games on", as: .rita).version()
        try await admin.edit(.requestor, "NEWS", as: .olga) { $0["name"] = "Late" }.changed()
        let last = try await admin.push("Late on").version().version
        #expect(try await admin.versions(.ed).map(\.description) == ["Late on", "The catalogue file"])
        #expect(try await admin.compare(first, last, as: .ed).map(\.entityID) == ["NEWS"])
        #expect(try await admin.compare(first, last, as: .olga).map(\.entityID) == ["NEWS", "SPORT"])
        #expect(try await admin.audit(.ed).map(\.action) == ["push", "import"])
        let snapshot = try await admin.service.getVersion(GetVersionRequest(token: Who.ed.token, version: last), context: CallContext())
        #expect(!snapshot.documentJson.contains("SPORT") && !snapshot.documentJson.contains("reef") && snapshot.documentJson.contains("NEWS"))
        let report = try await admin.service.getReport(GetReportRequest(token: Who.ed.token, kind: .sso), context: CallContext())
        #expect(Set(report.rows.map(\.requestorID)) == ["NEWS"])
        let foreign = GetReportRequest(token: Who.ed.token, kind: .sso, requestorIDs: ["SPORT"])
        #expect(try await code { try await admin.service.getReport(foreign, context: CallContext()) } == .notFound)
    }

    @Test("nothing can be given to, or taken from, another programmer")
    func foreignReferences() async throws {
        let admin = try await AdministrationWorld()
        let moved = try await admin.edit(.requestor, "NEWS", as: .ed) { $0["programmer"] = "reef" }
        #expect(moved.refusal?.problems.map(\.field) == ["programmer"])
        let integration = try await admin.create(.integration, #"{"requestor": "SPORT", "mvpd": "Trial"}"#, as: .ed)
        #expect(integration.refusal?.problems.map(\.field) == ["requestor"])
        let application = try await admin.edit(.application, "news-tv", as: .ed) { $0["requestors"] = ["NEWS", "SPORT"] }
        #expect(application.refusal?.problems.map(\.field) == ["requestors[1]"])
        #expect("\(application)".contains("reef") == false)
        #expect(try await admin.draft(.ed).changes.isEmpty)
    }

    @Test("dashboard #3: what is changed in one space is not seen in another")
    func spaces() async throws {
        let prequal = try await AdministrationWorld()
        let release = try await AdministrationWorld()
        try await prequal.edit(.requestor, "NEWS") { $0["name"] = "Late" }.changed()
        try await prequal.push().version()
        #expect(release.requestorName("NEWS") == "News")
        #expect(try await release.versions().count == 1)
    }

    @Test("dashboard #34: a reset of trials needs requestor and MVPD, forbids foreign requestors, and is recorded")
    func resets() async throws {
        let admin = try await AdministrationWorld()
        func check(_ who: Who, _ requestor: String, _ mvpd: String) async throws -> Fault.Code? {
            let request = CheckAdministratorRequest(
                token: who.token, permission: .resetTempPass, requestorID: requestor, mvpdID: mvpd, subject: "all devices")
            return try await code { try await admin.service.checkAdministrator(request, context: CallContext()) }
        }
        #expect(try await check(.ed, "", "Trial") == .invalidRequest)
        #expect(try await check(.ed, "NEWS", "") == .invalidRequest)
        #expect(try await check(.ed, "SPORT", "Trial") == .insufficientRole)
        #expect(try await check(.ed, "NEWS", "Absent") == .notFound)
        #expect(try await check(.ed, "NEWS", "TinyCable") == .invalidRequest)
        #expect(try await check(.vic, "NEWS", "Trial") == .insufficientRole)
        #expect(try await admin.audit().count == 1)
        #expect(try await check(.ed, "NEWS", "Trial") == nil)
        let record = try #require(try await admin.audit().first)
        #expect(record.action == "temp_pass_reset" && record.author == "ed" && record.text.contains("all devices"))
    }

    @Test("support is for editors' own requestors, others do not exist, and each look-up with a subject is recorded")
    func support() async throws {
        let admin = try await AdministrationWorld()
        func check(_ who: Who, _ requestor: String, _ subject: String) async throws -> Fault.Code? {
            let request = CheckAdministratorRequest(token: who.token, permission: .support, requestorID: requestor, subject: subject)
            return try await code { try await admin.service.checkAdministrator(request, context: CallContext()) }
        }
        for subject in ["", "looked for device dev-…"] {
            #expect(try await check(.ed, "SPORT", subject) == .notFound)
            #expect(try await check(.olga, "ABSENT", subject) == .notFound)
            #expect(try await check(.olga, "", subject) == .notFound)
            #expect(try await check(.vic, "NEWS", subject) == .insufficientRole)
        }
        #expect(try await check(.ed, "NEWS", "") == nil)
        #expect(try await admin.audit().count == 1)
        #expect(try await check(.ed, "NEWS", "looked for device dev-…, found 2") == nil)
        let record = try #require(try await admin.audit().first)
        #expect(record.action == "viewer_support" && record.author == "ed" && record.text == "Support at NEWS: looked for device dev-…, found 2")
    }

    @Test("personal data is for operators and for whom a setting gives the right; each use with a subject is recorded")
    func personalData() async throws {
        let admin = try await AdministrationWorld()
        func check(_ who: Who, _ subject: String) async throws -> Fault.Code? {
            let request = CheckAdministratorRequest(token: who.token, permission: .personalData, subject: subject)
            return try await code { try await admin.service.checkAdministrator(request, context: CallContext()) }
        }
        for who in [Who.ed, .vic, .rita, .proxy, .watcher] {
            #expect(try await check(who, "exports a person by user id") == .insufficientRole, "\(who)")
        }
        #expect(try await check(.stranger, "") == .accessDenied)
        for who in [Who.dpo, .olga] { #expect(try await check(who, "") == nil) }
        #expect(try await admin.audit().count == 1)
        for who in [Who.olga, .dpo] { #expect(try await check(who, "erases a person by device id") == nil) }
        let record = try #require(try await admin.audit().first)
        #expect(record.action == "personal_data" && record.author == "dpo" && record.text == "Personal data: erases a person by device id")
        let known = try await admin.service.getAdministrator(GetAdministratorRequest(token: Who.dpo.token), context: CallContext())
        #expect(known.rights == ["personalData"])
        #expect(try await admin.service.verifyHistory(VerifyHistoryRequest(token: Who.olga.token), context: CallContext()).isIntact)
    }

    @Test("audit records go when their time is over, and the chain of those that stay holds; nobody removes one before")
    func forgetsAudit() async throws {
        let admin = try await AdministrationWorld()
        func record(_ subject: String) async throws {
            let request = CheckAdministratorRequest(token: Who.olga.token, permission: .personalData, subject: subject)
            _ = try await admin.service.checkAdministrator(request, context: CallContext())
        }
        try await record("first")
        admin.world.clock.advance(by: .seconds(40 * 86_400))
        #expect(try await admin.service.forgetAuditOnce(after: 41) == 0)
        try await record("second")
        let before = try await admin.audit().count
        #expect(try await admin.service.forgetAuditOnce(after: 30) == before - 1)
        let texts = try await admin.audit().map(\.text)
        #expect(texts.count == 2 && texts[1].hasSuffix("second") && texts[0].contains("their time is over"), "\(texts)")
        try await record("third")
        let verdict = try await admin.service.verifyHistory(VerifyHistoryRequest(token: Who.olga.token), context: CallContext())
        #expect(verdict.isIntact && verdict.auditRecords == 3, "\(verdict.problems)")
        await #expect(throws: (any Error).self) { try await admin.store.change("DELETE FROM audit WHERE number = (SELECT max(number) FROM audit)") }
        await #expect(throws: (any Error).self) { try await admin.store.change("DELETE FROM audit_start") }
        #expect(try await admin.service.forgetAuditOnce(after: 30) == 0)
    }

    @Test("a right that does not exist is refused in the settings, and none is needed")
    func settingsOfRights() throws {
        func read(_ more: String) throws -> AdministratorSettings {
            let text = #"{"name":"ada","tokenFile":"t","role":"operator"\#(more)}"#
            return try JSONDecoder().decode(AdministratorSettings.self, from: Data(text.utf8))
        }
        #expect(try read("").rights.isEmpty)
        #expect(try read(#","rights":["personalData"]"#).rights == [.personalData])
        #expect(throws: (any Error).self) { try read(#","rights":["everything"]"#) }
    }

    @Test("a viewer and an editor are bound to programmers and nobody else is, only a proxy keeps an MVPD's list, and names fit into a log")
    func settingsOfAdministrators() throws {
        func isRefused(_ role: String, _ more: String = "", name: String = "ada") -> Bool {
            let text = #"{"name":"\#(name)","tokenFile":"t","role":"\#(role)"\#(more)}"#
            return (try? JSONDecoder().decode(AdministratorSettings.self, from: Data(text.utf8))) == nil
        }
        let (programmers, mvpd) = (#","programmers":["harbor"]"#, #","mvpd":"BigProxy""#)
        for role in ["viewer", "editor"] { #expect(isRefused(role) && !isRefused(role, programmers) && isRefused(role, programmers + mvpd)) }
        for role in ["operator", "proxy"] { #expect(!isRefused(role) && isRefused(role, programmers)) }
        #expect(isRefused("operator", mvpd) && !isRefused("proxy", mvpd) && isRefused("owner"))
        for name in ["a", "Ada.L-1_x@acme", String(repeating: "a", count: 128)] { #expect(!isRefused("operator", name: name)) }
        for name in ["", "ada lovelace", "adä", "a/b", String(repeating: "a", count: 129)] { #expect(isRefused("operator", name: name), "\(name)") }
    }

    @Test("bridge §15.3: what an operator does to an upstream is recorded, and a look at it is not")
    func upstreams() async throws {
        let admin = try await AdministrationWorld()
        let count = try await admin.audit().count
        func check(_ subject: String) async throws {
            let request = CheckAdministratorRequest(token: Who.olga.token, permission: .upstream, subject: subject)
            _ = try await admin.service.checkAdministrator(request, context: CallContext())
        }
        try await check("")
        #expect(try await admin.audit().count == count)
        try await check("vendor checked, client")
        let record = try #require(try await admin.audit().first)
        #expect(record.action == "upstream_operated" && record.author == "olga" && record.text == "Upstream: vendor checked, client")
    }

    @Test("a token that is too short, or another administrator's, is not accepted")
    func tokens() throws {
        var administratorRegistry = AdministratorRegistry()
        let shortest = String(repeating: "0", count: 32)
        #expect(throws: AdministratorRegistry.Rejection.self) { try administratorRegistry.add("a", .viewer, token: " " + shortest.dropLast() + "\n") }
        try administratorRegistry.add("c", .viewer, token: shortest)
        try administratorRegistry.add("a", .viewer, token: Who.ed.token)
        #expect(throws: AdministratorRegistry.Rejection.self) { try administratorRegistry.add("b", .viewer, token: " \(Who.ed.token)\n") }
        #expect(throws: AdministratorRegistry.Rejection.self) { try administratorRegistry.add("a", .viewer, token: Who.vic.token) }
    }

    @Test("no token, or one of another length, is refused", arguments: ["", "x", Who.olga.token + "0", String(Who.olga.token.dropLast())])
    func strangers(token: String) async throws {
        let admin = try await AdministrationWorld()
        let request = GetAdministratorRequest(token: token)
        #expect(try await code { try await admin.service.getAdministrator(request, context: CallContext()) } == .accessDenied)
        let known = try await admin.service.getAdministrator(GetAdministratorRequest(token: Who.ed.token), context: CallContext())
        #expect(known == Administrator(name: "ed", role: .editor, programmerIDs: ["harbor"]))
    }
}
