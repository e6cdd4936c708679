@testable import ConfigService
import Contracts
import Faults
import Storage
import Testing

/// The administrators who may write a secret, and the secrets that a push may name (clients #99).
@Suite(.eachEngine) struct SecretTests {
    private typealias Who = AdministrationWorld.Who

    private func authorize(
        _ admin: AdministrationWorld, _ who: Who, _ reference: String = "fresh", programmer: String = "", known: KnownSecret? = nil
    ) async throws -> SecretOutcome.Outcome? {
        try await admin.service.authorizeSecret(
            AuthorizeSecretRequest(token: who.token, reference: reference, programmerID: programmer, known: known), context: .init()
        ).outcome
    }

    private func fault(_ body: () async throws -> Void) async -> Fault.Code? {
        do { try await body() } catch { return (error as? Fault)?.code }
        return nil
    }

    @Test("a reference is the programmer's whose editor writes it, or operators'; it is recorded, without the secret")
    func owners() async throws {
        let admin = try await AdministrationWorld()
        #expect(try await authorize(admin, .ed) == .programmerID("harbor"))
        #expect(try await authorize(admin, .olga) == .programmerID(""))
        #expect(try await authorize(admin, .olga, programmer: "reef") == .programmerID("reef"))
        #expect(await fault { _ = try await authorize(admin, .ed, programmer: "reef") } == .notFound)
        #expect(await fault { _ = try await authorize(admin, .olga, programmer: "nobody") } == .notFound)
        #expect(await fault { _ = try await authorize(admin, .vic) } == .insufficientRole)
        #expect(await fault { _ = try await authorize(admin, .stranger) } == .accessDenied)
        for reference in ["", "a b", "../x", String(repeating: "a", count: 129)] {
            #expect(await fault { _ = try await authorize(admin, .olga, reference) } == .invalidRequest)
        }
        let audit = try await admin.service.listAuditRecords(.init(token: Who.olga.token, page: .init(page: 1, size: 50)), context: .init())
        #expect(audit.records.filter { $0.action == "secret_written" }.map(\.author).sorted() == ["ed", "olga", "olga"])
    }

    @Test("another programmer's reference is unknown to an editor, and not overwritten by an operator for another one")
    func foreign() async throws {
        let admin = try await AdministrationWorld()
        let reefs = KnownSecret(reference: "fresh", programmerID: "reef")
        #expect(await fault { _ = try await authorize(admin, .ed, known: reefs) } == .notFound)
        #expect(await fault { _ = try await authorize(admin, .ed, known: KnownSecret(reference: "fresh", isFile: true)) } == .notFound)
        #expect(try await authorize(admin, .rita, known: reefs) == .programmerID("reef"))
        #expect(try await authorize(admin, .olga, programmer: "reef", known: reefs) == .programmerID("reef"))
        guard case .refusal(let refusal) = try await authorize(admin, .olga, known: reefs) else { throw Fault(.internal, "it was allowed") }
        #expect(refusal.reason == .conflict)
    }

    @Test("what a file has, and what any version names, is not overwritten")
    func conflicts() async throws {
        let admin = try await AdministrationWorld()
        for (reference, known) in [("fresh", KnownSecret(reference: "fresh", isFile: true)), ("tiny-secret", KnownSecret(reference: "tiny-secret"))] {
            guard case .refusal(let refusal) = try await authorize(admin, .olga, reference, known: known) else {
                Issue.record("\(reference) may be overwritten")
                continue
            }
            #expect(refusal.reason == .conflict)
        }
    }

    private func push(_ admin: AdministrationWorld, _ knowledge: SecretKnowledge, _ secrets: [KnownSecret] = []) async throws -> PushOutcome.Outcome?
    {
        let inventory = SecretInventory(knowledge: knowledge, secrets: secrets)
        return try await admin.service.pushDraft(
            PushDraftRequest(token: Who.olga.token, description: "another secret", secrets: inventory), context: .init()
        ).outcome
    }

    private func problems(_ outcome: PushOutcome.Outcome?) -> [String] {
        guard case .refusal(let refusal) = outcome else { return [] }
        return refusal.problems.map { "\($0.field) \($0.message)" }
    }

    @Test("a push that names a missing secret is refused with its name, and goes through once it is there")
    func missing() async throws {
        let admin = try await AdministrationWorld()
        try await admin.edit(.mvpd, "TinyCable") { entry in
            var oauth = entry["oauth"] as? [String: Any] ?? [:]
            oauth["clientSecretReference"] = "tiny-2"
            entry["oauth"] = oauth
        }
        let missing = problems(try await push(admin, .told, [KnownSecret(reference: "tiny-secret")]))
        #expect(missing.count == 1 && missing[0].contains("TinyCable") && missing[0].contains("'tiny-2'") && missing[0].contains("write it first"))
        let away = problems(try await push(admin, .away))
        #expect(away.count == 1 && away[0].contains("does not answer"))
        let foreign = problems(try await push(admin, .told, [KnownSecret(reference: "tiny-2", programmerID: "reef")]))
        #expect(foreign.count == 1 && foreign[0].contains("programmer's own"))
        guard case .version = try await push(admin, .told, [KnownSecret(reference: "tiny-2")]) else { throw Fault(.internal, "it was refused") }
    }

    @Test("what was named before stays editable while its secret is missing, and nothing is checked without an answer about secrets")
    func leniency() async throws {
        let admin = try await AdministrationWorld()
        try await admin.edit(.mvpd, "TinyCable") { $0["displayName"] = "Tiny" }
        guard case .version = try await push(admin, .told) else { throw Fault(.internal, "it was refused") }
        try await admin.edit(.mvpd, "TinyCable") { entry in
            var oauth = entry["oauth"] as? [String: Any] ?? [:]
            oauth["clientSecretReference"] = "tiny-3"
            entry["oauth"] = oauth
        }
        guard case .version = try await push(admin, .untold) else { throw Fault(.internal, "it was refused") }
    }

    // MARK: Files

    private static let files = ["harbor-file", "reef-file", "shared", "console"].map { KnownSecret(reference: $0, isFile: true) }

    /// `harbor-file` is named for harbor alone, `reef-file` for reef, `shared` for both, `console` for nobody.
    private static let catalogue = AdministrationWorld.catalogue
        .replacingOccurrences(of: #"{"requestor": "NEWS", "mvpd": "TinyCable"}"#, with: client("NEWS", "harbor-file"))
        .replacingOccurrences(of: #"{"requestor": "SPORT", "mvpd": "TinyCable"}"#, with: client("SPORT", "reef-file"))
        .replacingOccurrences(of: #""redirectDomains": ["news.example"]"#, with: #""redirectDomains": ["news.example"], \#(pair("NEWS"))"#)
        .replacingOccurrences(
            of: #""requestors": ["SPORT"], "platforms": ["tvos"],"#, with: #""requestors": ["SPORT"], "platforms": ["tvos"], \#(pair("SPORT")),"#)

    private static func client(_ requestor: String, _ reference: String) -> String {
        #"{"requestor": "\#(requestor)", "mvpd": "TinyCable", "oauthClient": {"clientId": "c", "clientSecretReference": "\#(reference)"}}"#
    }

    private static func pair(_ requestor: String) -> String {
        #""signingKeys": [{"publicKey": "Pair\#(requestor)0", "secret": "shared", "requestors": ["\#(requestor)"]}]"#
    }

    private func name(_ admin: AdministrationWorld, _ reference: String, as who: Who) async throws -> PushOutcome.Outcome? {
        try await admin.edit(.integration, who == .rita ? "SPORT/TinyCable" : "NEWS/TinyCable", as: who) {
            $0["oauthClient"] = ["clientId": "another", "clientSecretReference": reference]
        }.changed()
        let outcome = try await admin.service.pushDraft(
            PushDraftRequest(
                token: who.token, description: "names \(reference)", secrets: SecretInventory(knowledge: .told, secrets: Self.files)),
            context: .init()
        ).outcome
        _ = try await admin.service.discardDraft(.init(token: who.token), context: .init())
        return outcome
    }

    @Test("a draft names no file that is not its programmer's: another one's, operators' and one that is not there are told alike")
    func foreignFiles() async throws {
        let admin = try await AdministrationWorld(catalogue: Self.catalogue)
        var told: Set<String> = []
        for reference in ["reef-file", "shared", "console", "absent"] {
            let found = problems(try await name(admin, reference, as: .ed))
            #expect(found.count == 1, "\(reference)")
            told.formUnion(found.map { $0.replacingOccurrences(of: reference, with: "REF") })
        }
        #expect(told.count == 1)
        guard case .version = try await name(admin, "harbor-file", as: .ed) else { throw Fault(.internal, "its own was refused") }
        // Earlier references stay, and stay editable.
        try await admin.edit(.application, "news-tv", as: .ed) { $0["name"] = "News" }.changed()
        guard
            case .version = try await admin.service.pushDraft(
                PushDraftRequest(token: Who.ed.token, description: "x", secrets: SecretInventory(knowledge: .told, secrets: Self.files)),
                context: .init()
            ).outcome
        else { throw Fault(.internal, "an entry that names an operators' file cannot be edited") }
    }

    @Test("where a service does not list secrets, config judges by its own list, and a name in neither is operators'")
    func untoldFiles() async throws {
        let admin = try await AdministrationWorld(catalogue: Self.catalogue)
        func push(_ reference: String, _ who: Who) async throws -> [String] {
            try await admin.edit(.integration, "NEWS/TinyCable", as: who) {
                $0["oauthClient"] = ["clientId": "another", "clientSecretReference": reference]
            }.changed()
            let outcome = try await admin.service.pushDraft(.init(token: who.token, description: "x"), context: .init()).outcome
            _ = try await admin.service.discardDraft(.init(token: who.token), context: .init())
            return problems(outcome)
        }
        #expect(try await push("reef-file", .ed).count == 1)
        #expect(try await push("unheard-of", .ed).count == 1)
        #expect(try await push("harbor-file", .ed).isEmpty)
        #expect(try await push("unheard-of", .olga).isEmpty)
    }

    @Test("a key file of Apple's is judged by its owner too")
    func keyFiles() async throws {
        let admin = try await AdministrationWorld()
        func push() async throws -> [String] {
            try await admin.edit(.programmer, "harbor", as: .ed) { entry in
                entry["appleTeams"] = [
                    [
                        "teamId": "HARBORTEAM", "signInKeyId": "SIGNKEY001", "signInKeyReference": "reef.key",
                        "groups": [["id": "example.harbor.tv", "bundleIds": ["example.harbor.tv"]]],
                    ]
                ]
            }.changed()
            let outcome = try await admin.service.pushDraft(.init(token: Who.ed.token, description: "x"), context: .init()).outcome
            return problems(outcome)
        }
        let refused = try await push()
        #expect(refused.count == 1 && refused[0].contains("'reef.key'"))
        _ = try await admin.service.setSecretOwner(
            .init(token: Who.olga.token, reference: "reef.key", programmerID: "harbor"), context: .init())
        #expect(try await push().isEmpty)
    }

    @Test("owners begin with what is named; operators see what is open and decide it, recorded; others see theirs")
    func decides() async throws {
        let admin = try await AdministrationWorld(catalogue: Self.catalogue)
        func owners(_ who: Who) async throws -> [SecretOwner] {
            try await admin.service.listSecretOwners(.init(token: who.token), context: .init()).owners
        }
        #expect(
            try await owners(.olga) == [
                SecretOwner(reference: "harbor-file", programmerID: "harbor"), SecretOwner(reference: "reef-file", programmerID: "reef"),
                SecretOwner(reference: "shared", isOpen: true),
            ])
        #expect(try await owners(.ed).map(\.reference) == ["harbor-file"])
        let give = SetSecretOwnerRequest(token: Who.olga.token, reference: "shared", programmerID: "harbor")
        #expect(
            try await admin.service.setSecretOwner(give, context: .init()).owners.last == SecretOwner(reference: "shared", programmerID: "harbor"))
        #expect(try await owners(.ed).map(\.reference) == ["harbor-file", "shared"])
        guard case .version = try await name(admin, "shared", as: .ed) else { throw Fault(.internal, "its own was refused") }
        #expect(problems(try await name(admin, "shared", as: .rita)).count == 1)
        for who in [Who.ed, .vic] {
            #expect(await fault { _ = try await admin.service.setSecretOwner(.init(token: who.token, reference: "shared"), context: .init()) } != nil)
        }
        #expect(
            await fault {
                _ = try await admin.service.setSecretOwner(
                    .init(token: Who.olga.token, reference: "shared", programmerID: "nobody"), context: .init())
            } == .notFound)
        #expect(try await admin.audit().contains { $0.action == "secret_owner_set" && $0.text == "The secret file shared is harbor's" })
        // Once.
        await admin.store.close()
        let restarted = try await AdministrationWorld(admin.world)
        #expect(try await restarted.service.listSecretOwners(.init(token: Who.ed.token), context: .init()).owners.count == 2)
    }

    @Test("owners that an upgrade derived are told once; of a store that began with owners nothing is told")
    func derivedOwners() async throws {
        let admin = try await AdministrationWorld(catalogue: Self.catalogue)
        func take(_ admin: AdministrationWorld) async throws -> [String] {
            try await CatalogueStore(admin.store).write(now: admin.world.clock.now()) { try $0.takeDerivedOwners() }.map {
                "\($0.reference) \($0.programmer)"
            }
        }
        #expect(try await take(admin).isEmpty)
        // As the release before owners left it.
        try await admin.store.write { database in
            for table in ["progress", "secret_owner"] { try database.run(.init("DELETE FROM \(table)")) }
        }
        await admin.store.close()
        admin.world.clock.advance(by: .seconds(100))
        let upgraded = try await AdministrationWorld(admin.world)
        #expect(try await take(upgraded) == ["harbor-file harbor", "reef-file reef"])
        #expect(try await take(upgraded).isEmpty)
    }

    @Test("a store from before owners gives files to those who named them, also where the catalogue file names others now")
    func ownersBeforeImport() async throws {
        let admin = try await AdministrationWorld(catalogue: Self.catalogue)
        try await admin.store.write { database in
            for table in ["progress", "secret_owner"] { try database.run(.init("DELETE FROM \(table)")) }
        }
        await admin.store.close()
        let other = Self.catalogue.replacingOccurrences(of: "reef-file", with: "another-file").replacingOccurrences(
            of: "harbor-file", with: "reef-file")
        try admin.world.write(other, to: "catalogue.json")
        let upgraded = try await AdministrationWorld(admin.world)
        let owners = try await upgraded.service.listSecretOwners(.init(token: Who.olga.token), context: .init()).owners
        #expect(owners.first { $0.reference == "reef-file" } == SecretOwner(reference: "reef-file", programmerID: "reef"))
        #expect(owners.contains(SecretOwner(reference: "another-file", programmerID: "reef")), "the new catalogue is taken in")
    }

    @Test("clients #99: a push that waits was within its author's rights when it was proposed, whoever approves it")
    func waiting() async throws {
        let admin = try await AdministrationWorld(approvalRequired: true, catalogue: Self.catalogue)
        #expect(problems(try await name(admin, "console", as: .ed)).count == 1)
        #expect(try await admin.service.listPendingPushes(.init(token: Who.olga.token), context: .init()).pushes.isEmpty)
    }
}
