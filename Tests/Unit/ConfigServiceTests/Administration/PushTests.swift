import ConfigService
import ContractRuntime
import Contracts
import Faults
import Foundation
import Testing

@Suite("Pushing drafts", .eachEngine)
struct PushTests {
    @Test("dashboard #22: a push needs a description of 1 to 500 characters", arguments: ["", " ", String(repeating: "x", count: 501)])
    func description(text: String) async throws {
        let admin = try await AdministrationWorld()
        try await admin.edit(.requestor, "NEWS") { $0["name"] = "Late" }.changed()
        let refusal = try await admin.push(text).refusal
        #expect(refusal?.reason == .invalid)
        #expect(refusal?.problems.map(\.field) == ["description"])
        #expect(admin.requestorName("NEWS") == "News")
        #expect(try await admin.versions().count == 1)
    }

    @Test("a description of one character and of 500 is taken, with line ends, but no other control character")
    func goodDescriptions() async throws {
        let admin = try await AdministrationWorld()
        for text in ["x", String(repeating: "x", count: 500), "one\ntwo"] {
            try await admin.edit(.requestor, "NEWS") { $0["name"] = "\(text.count) characters" }.changed()
            #expect(try await admin.push("\u{1b}[31m" + text).refusal?.problems.map(\.field) == ["description"])
            #expect(try await admin.push(text).version().description == text)
        }
    }

    @Test("what is pushed or dropped is the draft that was looked at: where it is another one by now nothing happens; * stands for whichever it is")
    func namesTheDraft() async throws {
        let (admin, token) = (try await AdministrationWorld(), AdministrationWorld.Who.olga.token)
        func push(_ etag: String) async throws -> PushOutcome.Outcome? {
            try await admin.service.pushDraft(PushDraftRequest(token: token, description: "x", ifMatch: etag), context: CallContext()).outcome
        }
        func drop(_ etag: String) async throws -> DraftOutcome.Outcome? {
            try await admin.service.dropChange(DropChangeRequest(token: token, number: 1, ifMatch: etag), context: CallContext()).outcome
        }
        try await admin.edit(.requestor, "NEWS") { $0["name"] = "Late" }.changed()
        let seen = try await admin.draft().etag
        try await admin.edit(.requestor, "NEWS") { $0["enhancedErrors"] = true }.changed()
        #expect(try await push(seen)?.refusal?.reason == .preconditionFailed)
        guard case .refusal(let refusal) = try await drop(seen) else { throw AdministrationWorld.Unexpected(description: "dropped") }
        #expect(refusal.reason == .preconditionFailed)
        #expect(try await admin.draft().changes.count == 2 && admin.requestorName("NEWS") == "News")
        guard case .draft(let left) = try await drop(admin.draft().etag) else { throw AdministrationWorld.Unexpected(description: "not dropped") }
        #expect(left.changes.map(\.property) == ["name"])
        #expect(try await push(left.etag)?.version().version == admin.published.configuration.version)
        try await admin.edit(.requestor, "NEWS") { $0["name"] = "Later" }.changed()
        #expect(try await push("*")?.version().version == admin.published.configuration.version && admin.requestorName("NEWS") == "Later")
    }

    @Test("dashboard #23: each line has its old and new value")
    func lines() async throws {
        let admin = try await AdministrationWorld()
        try await admin.edit(.requestor, "NEWS") {
            $0["name"] = "Late"
            $0["enhancedErrors"] = true
        }.changed()
        let changes = try await admin.draft().changes
        #expect(changes.map(\.property) == ["enhancedErrors", "name"])
        #expect(changes.map(\.operation) == [.add, .replace])
        #expect(changes.map(\.oldJson) == ["", #""News""#])
        #expect(changes.map(\.newJson) == ["true", #""Late""#])
    }

    @Test("dashboard #24: a dismissed draft is empty, and live is unchanged")
    func dismiss() async throws {
        let admin = try await AdministrationWorld()
        try await admin.edit(.requestor, "NEWS") { $0["name"] = "Late" }.changed()
        let draft = try await admin.service.discardDraft(
            DiscardDraftRequest(token: AdministrationWorld.Who.olga.token), context: CallContext())
        #expect(draft.changes.isEmpty && draft.etag.isEmpty)
        #expect(try await admin.get(.requestor, "NEWS").isChanged == false)
        #expect(try await admin.push().refusal?.reason == .invalid)
        #expect(admin.requestorName("NEWS") == "News")
    }

    @Test("a single line is dropped; one that others need is not")
    func dropLine() async throws {
        let admin = try await AdministrationWorld()
        try await admin.edit(.requestor, "NEWS") { $0["name"] = "Late" }.changed()
        try await admin.create(.requestor, #"{"id": "KIDS", "name": "Kids", "programmer": "harbor", "domains": []}"#).changed()
        try await admin.create(.integration, #"{"requestor": "KIDS", "mvpd": "Trial"}"#).changed()
        guard case .refusal(let refusal) = try await admin.drop(2) else { throw AdministrationWorld.Unexpected(description: "dropped") }
        #expect(refusal.reason == .invalid)
        guard case .draft(let draft) = try await admin.drop(1) else { throw AdministrationWorld.Unexpected(description: "kept") }
        #expect(draft.changes.map(\.entityID) == ["KIDS", "KIDS/Trial"])
        for number: UInt32 in [0, 3] { #expect(try await code { try await admin.drop(number) } == .notFound) }
    }

    @Test("a push is live at once, numbered after what services have, and recorded")
    func push() async throws {
        let admin = try await AdministrationWorld()
        let before = admin.published.configuration.version
        try await admin.edit(.requestor, "NEWS") { $0["name"] = "Late" }.changed()
        let version = try await admin.push("Later news", as: .olga).version()
        #expect(version.version == before + 1)
        #expect(version.author == "olga" && version.description == "Later news" && version.status == .success && version.isCurrent)
        #expect(admin.published.configuration.version == version.version)
        #expect(admin.requestorName("NEWS") == "Late")
        #expect(try await admin.draft().changes.isEmpty)
        let record = try #require(try await admin.audit().first)
        #expect(record.action == "push" && record.author == "olga" && record.version == version.version)
        #expect(try await admin.versions().map(\.previousSha256).last == String(repeating: "0", count: 64))
    }

    @Test("dashboard #20: an integration that is switched off and pushed is off for services, and on again after another push")
    func switchIntegration() async throws {
        let admin = try await AdministrationWorld()
        for isOn in [false, true] {
            try await admin.edit(.integration, "NEWS/TinyCable", as: .ed) { $0["enabled"] = isOn }.changed()
            try await admin.push(as: .ed).version()
            #expect(admin.published.configuration.integrations.first { $0.requestorID == "NEWS" && $0.mvpdID == "TinyCable" }?.enabled == isOn)
        }
    }

    @Test("dashboard #25: two editors push different properties; of the same property the second is refused with the list")
    func twoEditors() async throws {
        let admin = try await AdministrationWorld()
        try await admin.edit(.requestor, "NEWS", as: .ed) { $0["name"] = "Ed's" }.changed()
        try await admin.edit(.requestor, "NEWS", as: .emma) { $0["enhancedErrors"] = true }.changed()
        try await admin.edit(.requestor, "NEWS", as: .olga) { $0["name"] = "Olga's" }.changed()
        try await admin.push(as: .ed).version()
        try await admin.push(as: .emma).version()
        let news = try #require(admin.published.configuration.requestors.first { $0.id == "NEWS" })
        #expect(news.name == "Ed's" && news.enhancedErrors)
        let refusal = try #require(try await admin.push(as: .olga).refusal)
        #expect(refusal.reason == .conflict)
        #expect(refusal.conflicts.map(\.property) == ["name"])
        #expect(refusal.conflicts.map(\.newJson) == [#""Ed's""#])
        #expect(admin.requestorName("NEWS") == "Ed's")
        #expect(try await admin.draft().changes.count == 1)
    }

    @Test("what one deletes while another changes it is a conflict")
    func deletedMeanwhile() async throws {
        let admin = try await AdministrationWorld()
        try await admin.edit(.integration, "NEWS/Trial", as: .ed) { $0["authnTtl"] = 600 }.changed()
        try await admin.delete(.integration, "NEWS/Trial", as: .emma).changed()
        try await admin.push(as: .emma).version()
        #expect(try await admin.push(as: .ed).refusal?.reason == .conflict)
    }

    @Test("changes that fit alone but not together are refused when the second is pushed")
    func invalidTogether() async throws {
        let admin = try await AdministrationWorld()
        try await admin.create(.integration, #"{"requestor": "SPORT", "mvpd": "Trial"}"#, as: .rita).changed()
        try await admin.delete(.integration, "NEWS/Trial").changed()
        try await admin.delete(.mvpd, "Trial").changed()
        try await admin.push().version()
        let refusal = try #require(try await admin.push(as: .rita).refusal)
        #expect(refusal.reason == .invalid)
        #expect(refusal.problems.map(\.field) == ["integrations/SPORT/Trial: mvpd"])
    }

    @Test("many editors at once: every push is a version of its own, and none is lost")
    func manyEditors() async throws {
        let admin = try await AdministrationWorld()
        let editors: [(AdministrationWorld.Who, String)] = [(.ed, "name"), (.emma, "registrationUrl"), (.olga, "defaultRedirectUrl")]
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (who, member) in editors {
                group.addTask {
                    for round in 1...5 {
                        try await Self.set(member, to: "https://news.example/\(round)", as: who, admin)
                        try await admin.push("\(member) \(round)", as: who).version()
                    }
                }
            }
            try await group.waitForAll()
        }
        let news = try #require(admin.published.configuration.requestors.first { $0.id == "NEWS" })
        #expect([news.name, news.registrationURL, news.defaultRedirectURL] == Array(repeating: "https://news.example/5", count: 3))
        let versions = try await admin.versions()
        #expect(versions.count == 16)
        #expect(versions.first?.version == admin.published.configuration.version)
        #expect(try await admin.verdict().isIntact)
    }

    /// Tries again when another push came in between.
    private static func set(_ member: String, to value: String, as who: AdministrationWorld.Who, _ admin: AdministrationWorld) async throws {
        for _ in 0..<100 {
            let outcome = try await admin.edit(.requestor, "NEWS", as: who) { $0[member] = value }
            guard outcome.refusal?.reason == .preconditionFailed else {
                try outcome.changed()
                return
            }
        }
        throw AdministrationWorld.Unexpected(description: "a hundred others were faster")
    }

    @Test("dashboard #28: a restored version is a draft, and pushed it is a new version equal to the old one")
    func restore() async throws {
        let admin = try await AdministrationWorld()
        let first = try #require(try await admin.versions().first)
        let before = admin.published.configuration
        try await admin.edit(.requestor, "NEWS") { $0["name"] = "Late" }.changed()
        try await admin.create(.programmer, #"{"id": "isle", "name": "Isle"}"#).changed()
        try await admin.push().version()
        let request = RestoreVersionRequest(token: AdministrationWorld.Who.olga.token, version: first.version)
        guard case .draft(let draft) = try await admin.service.restoreVersion(request, context: CallContext()).outcome else {
            throw AdministrationWorld.Unexpected(description: "no draft")
        }
        #expect(draft.changes.map(\.entityID) == ["isle", "NEWS"])
        #expect(admin.requestorName("NEWS") == "Late")
        let restored = try await admin.push("back").version()
        #expect(restored.documentSha256 == first.documentSha256)
        #expect(try await admin.compare(first.version, restored.version).isEmpty)
        #expect(admin.published.configuration.requestors == before.requestors)
        #expect(admin.published.configuration.programmers == before.programmers)
    }

    @Test("a restore does not overwrite a draft")
    func restoreKeepsDraft() async throws {
        let admin = try await AdministrationWorld()
        let first = try #require(try await admin.versions().first)
        try await admin.edit(.requestor, "NEWS") { $0["name"] = "Late" }.changed()
        let request = RestoreVersionRequest(token: AdministrationWorld.Who.olga.token, version: first.version)
        guard case .refusal(let refusal) = try await admin.service.restoreVersion(request, context: CallContext()).outcome else {
            throw AdministrationWorld.Unexpected(description: "restored")
        }
        #expect(refusal.reason == .preconditionFailed)
        #expect(try await admin.draft().changes.count == 1)
    }

    @Test("dashboard #30: where approval is required, a push waits for a person who is not its author")
    func approval() async throws {
        let admin = try await AdministrationWorld(approvalRequired: true)
        try await admin.edit(.requestor, "NEWS", as: .ed) { $0["name"] = "Late" }.changed()
        let pending = try await admin.push("Later", as: .ed).pending()
        #expect(admin.requestorName("NEWS") == "News")
        #expect(pending.changes.map(\.property) == ["name"])
        func decide(_ who: AdministrationWorld.Who, _ approve: Bool) async throws -> PushOutcome.Outcome? {
            try await admin.service.decidePush(
                DecidePushRequest(token: who.token, id: pending.id, approve: approve), context: CallContext()
            ).outcome
        }
        #expect(try await decide(.ed, true)?.refusal?.reason == .secondPersonRequired)
        #expect(try await code { try await decide(.rita, true) } == .notFound)
        #expect(try await code { try await decide(.vic, true) } == .insufficientRole)
        let version = try #require(try await decide(.emma, true)).version()
        #expect(version.author == "ed" && version.approver == "emma")
        #expect(admin.requestorName("NEWS") == "Late")
        #expect(try await code { try await decide(.emma, true) } == .notFound)
    }

    @Test("a push that is declined leaves its author what was begun meanwhile")
    func declineKeepsTheNewDraft() async throws {
        let admin = try await AdministrationWorld(approvalRequired: true)
        try await admin.edit(.requestor, "NEWS", as: .ed) { $0["name"] = "Late" }.changed()
        let pending = try await admin.push("Later", as: .ed).pending()
        try await admin.edit(.requestor, "NEWS", as: .ed) { $0["enhancedErrors"] = true }.changed()
        let request = DecidePushRequest(token: AdministrationWorld.Who.ed.token, id: pending.id, approve: false)
        guard case .declined = try await admin.service.decidePush(request, context: CallContext()).outcome else {
            throw AdministrationWorld.Unexpected(description: "the author could not take it back")
        }
        #expect(try await admin.draft(.ed).changes.map(\.property) == ["enhancedErrors"])
    }

    @Test("a push that is declined gives its author the draft back")
    func decline() async throws {
        let admin = try await AdministrationWorld(approvalRequired: true)
        try await admin.edit(.requestor, "NEWS", as: .ed) { $0["name"] = "Late" }.changed()
        let pending = try await admin.push("Later", as: .ed).pending()
        #expect(try await admin.draft(.ed).changes.isEmpty)
        let request = DecidePushRequest(token: AdministrationWorld.Who.olga.token, id: pending.id, approve: false)
        guard case .declined = try await admin.service.decidePush(request, context: CallContext()).outcome else {
            throw AdministrationWorld.Unexpected(description: "not declined")
        }
        #expect(try await admin.draft(.ed).changes.count == 1)
        #expect(try await admin.audit().prefix(2).map(\.action) == ["push_declined", "push_proposed"])
        #expect(admin.requestorName("NEWS") == "News")
    }
}
