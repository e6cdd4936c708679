import ConfigService
import ContractRuntime
import Contracts
import Faults
import Foundation
import Testing

@Suite("Drafts and pushes of what has come to another programmer", .eachEngine)
struct MovedEntryTests {
    private typealias Who = AdministrationWorld.Who

    /// Gives NEWS and its application to another programmer, as one version.
    private func moveNews(_ admin: AdministrationWorld, from former: String = "harbor", to programmer: String = "reef") async throws {
        let entity = try await admin.get(.application, "news-tv")
        try await admin.delete(.application, "news-tv").changed()
        try await admin.edit(.requestor, "NEWS") { $0["programmer"] = programmer }.changed()
        try await admin.create(.application, entity.json.replacingOccurrences(of: "\"\(former)\"", with: "\"\(programmer)\"")).changed()
        let outcome = try await admin.push("moved")
        if case .pending(let push) = outcome {
            let request = DecidePushRequest(token: Who.otto.token, id: push.id, approve: true)
            try await admin.service.decidePush(request, context: CallContext()).outcome?.version()
        } else {
            try outcome.version()
        }
    }

    private func domains(_ admin: AdministrationWorld) -> [String] {
        admin.published.configuration.requestors.first { $0.id == "NEWS" }?.domains.map(\.name) ?? []
    }

    private static let evil: @Sendable (inout [String: Any]) -> Void = { $0["domains"] = ["news.example", "evil.example"] }

    @Test("what an operator moved to another programmer leaves its former editor's draft, and is not pushed from it")
    func leavesDraft() async throws {
        let admin = try await AdministrationWorld()
        try await admin.edit(.requestor, "NEWS", as: .ed, Self.evil).changed()
        try await admin.edit(.integration, "NEWS/Trial", as: .ed) { $0["authnTtl"] = 600 }.changed()
        try await moveNews(admin)
        #expect(try await admin.draft(.ed).changes.isEmpty)
        for (kind, id) in [(EntityKind.requestor, "NEWS"), (.integration, "NEWS/Trial"), (.application, "news-tv")] {
            #expect(try await code { try await admin.get(kind, id, as: .ed) } == .notFound)
            #expect(try await admin.list(kind, as: .ed).entities.contains { $0.id == id } == false)
        }
        #expect(try await admin.push(as: .ed).refusal?.reason == .invalid)
        #expect(domains(admin) == ["news.example"])
        // It is the new owner's now.
        try await admin.edit(.requestor, "NEWS", as: .rita) { $0["name"] = "Reef News" }.changed()
        try await admin.push(as: .rita).version()
        #expect(admin.requestorName("NEWS") == "Reef News")
    }

    @Test("what remains of such a draft is still its author's, is edited and pushed, and changes nothing of the rest")
    func keepsTheRest() async throws {
        let admin = try await AdministrationWorld()
        try await admin.edit(.requestor, "NEWS", as: .ed, Self.evil).changed()
        try await admin.create(.requestor, #"{"id": "KIDS", "name": "Kids", "programmer": "harbor", "domains": []}"#, as: .ed).changed()
        try await moveNews(admin)
        try await admin.edit(.requestor, "NEWS", as: .rita) { $0["name"] = "Reef News" }.changed()
        try await admin.push(as: .rita).version()
        try await admin.edit(.requestor, "KIDS", as: .ed) { $0["name"] = "Children" }.changed()
        #expect(try await admin.draft(.ed).changes.map(\.entityID) == ["KIDS"])
        try await admin.push(as: .ed).version()
        #expect(admin.requestorName("KIDS") == "Children" && admin.requestorName("NEWS") == "Reef News")
        #expect(domains(admin) == ["news.example"])
    }

    @Test("what was moved away and given back is as it was in a draft that was edited meanwhile")
    func givenBack() async throws {
        let admin = try await AdministrationWorld()
        try await admin.create(.requestor, #"{"id": "KIDS", "name": "Kids", "programmer": "harbor", "domains": []}"#, as: .ed).changed()
        try await moveNews(admin)
        try await admin.edit(.requestor, "KIDS", as: .ed) { $0["name"] = "Children" }.changed()
        try await moveNews(admin, from: "reef", to: "harbor")
        #expect(try await admin.draft(.ed).changes.map(\.entityID) == ["KIDS"])
    }

    @Test("a push that waits is approved by nobody once an entry of it was moved; its author may take it back, without that entry")
    func pending() async throws {
        let admin = try await AdministrationWorld(approvalRequired: true)
        try await admin.edit(.requestor, "NEWS", as: .ed, Self.evil).changed()
        let pending = try await admin.push("Later", as: .ed).pending()
        try await moveNews(admin)
        func decide(_ who: Who, approve: Bool) async throws -> PushOutcome.Outcome? {
            try await admin.service.decidePush(DecidePushRequest(token: who.token, id: pending.id, approve: approve), context: CallContext()).outcome
        }
        #expect(try await code { try await decide(.emma, approve: true) } == .notFound)
        #expect(try await code { try await decide(.rita, approve: true) } == .notFound)
        #expect(try await decide(.otto, approve: true)?.refusal?.reason == .conflict)
        let list = try await admin.service.listPendingPushes(ListPendingPushesRequest(token: Who.emma.token), context: CallContext())
        #expect(list.pushes.flatMap(\.changes).isEmpty)
        guard case .declined(let declined) = try await decide(.ed, approve: false) else { throw AdministrationWorld.Unexpected(description: "kept") }
        #expect(declined.changes.isEmpty)
        #expect(try await admin.draft(.ed).changes.isEmpty)
        #expect(domains(admin) == ["news.example"])
    }

    @Test("of two versions between which an id came to another programmer, either sees its own side alone")
    func comparison() async throws {
        let admin = try await AdministrationWorld()
        func kids(_ programmer: String, _ name: String) -> String {
            #"{"id": "KIDS", "name": "\#(name)", "programmer": "\#(programmer)", "domains": []}"#
        }
        // Both programmers have a part in both versions.
        func push(_ number: Int, _ body: () async throws -> Void) async throws -> UInt64 {
            for id in ["NEWS", "SPORT"] { try await admin.edit(.requestor, id) { $0["mediaTokenTtl"] = 60 + number }.changed() }
            try await body()
            return try await admin.push().version().version
        }
        let old = try await push(1) { try await admin.create(.requestor, kids("harbor", "Secret plans")).changed() }
        _ = try await push(2) { try await admin.delete(.requestor, "KIDS").changed() }
        let new = try await push(3) { try await admin.create(.requestor, kids("reef", "Reef plans")).changed() }
        let reefs = try await admin.compare(old, new, as: .rita).filter { $0.entityID == "KIDS" }
        #expect(reefs.map(\.oldJson) == [""] && reefs.allSatisfy { $0.newJson.contains("Reef plans") })
        let harbors = try await admin.compare(old, new, as: .ed).filter { $0.entityID == "KIDS" }
        #expect(harbors.map(\.newJson) == [""] && harbors.allSatisfy { $0.oldJson.contains("Secret plans") })
    }

    @Test("an entry that another programmer pushes first under the same id is not told to the draft that has one too")
    func sameID() async throws {
        let admin = try await AdministrationWorld()
        try await admin.create(.requestor, #"{"id": "KIDS", "name": "Kids", "programmer": "harbor", "domains": []}"#, as: .ed).changed()
        try await admin.create(.requestor, #"{"id": "KIDS", "name": "Secret plans", "programmer": "reef", "domains": []}"#, as: .rita).changed()
        try await admin.push(as: .rita).version()
        let refusal = try #require(try await admin.push(as: .ed).refusal)
        #expect(!"\(refusal)".contains("Secret plans"))
        #expect(try await admin.draft(.ed).changes.isEmpty)
        #expect(admin.requestorName("KIDS") == "Secret plans")
    }

    @Test("a catalogue from elsewhere gives an editor nothing of a requestor that is another programmer's here")
    func promotion() async throws {
        let admin = try await AdministrationWorld()
        let other = AdministrationWorld.catalogue
            .replacingOccurrences(of: #""name": "Sport", "programmer": "reef""#, with: #""name": "Sport", "programmer": "harbor""#)
            .replacingOccurrences(of: #""programmer": "reef", "requestors""#, with: #""programmer": "harbor", "requestors""#)
            .replacingOccurrences(
                of: #"{"requestor": "NEWS", "mvpd": "Trial"}"#,
                with: #"{"requestor": "NEWS", "mvpd": "Trial"}, {"requestor": "SPORT", "mvpd": "Trial"}"#)
        let request = PromoteCatalogueRequest(token: Who.ed.token, catalogue: other)
        guard case .draft(let draft) = try await admin.service.promoteCatalogue(request, context: CallContext()).outcome else {
            throw AdministrationWorld.Unexpected(description: "refused")
        }
        #expect(draft.changes.isEmpty)
    }
}

@Suite("What a refusal tells of others", .eachEngine)
struct RefusalTests {
    private static let pair = #""signingKeys": [{"publicKey": "AbCd1234", "secret": "tiny-secret", "requestors": ["SPORT"]}]"#
    private static let catalogue = AdministrationWorld.catalogue.replacingOccurrences(
        of: #""requestors": ["SPORT"], "platforms": ["tvos"],"#, with: #""requestors": ["SPORT"], "platforms": ["tvos"], \#(pair),"#)

    private func refusal(_ outcome: EntityOutcome.Outcome) throws -> Refusal { try #require(outcome.refusal) }

    @Test("clients #102: of a taken public key an editor hears that it is taken, an operator which application has it")
    func takenKey() async throws {
        let admin = try await AdministrationWorld(catalogue: Self.catalogue)
        let edit: (inout [String: Any]) -> Void = {
            $0["signingKeys"] = [["publicKey": "AbCd1234", "secret": "tiny-secret", "requestors": ["NEWS"]]]
        }
        // Its application stands before sport-tv in the document: the reader finds sport-tv's pair to be the second one.
        let editor = try refusal(try await admin.edit(.application, "news-tv", as: .ed, edit))
        #expect(editor.problems.count == 1 && editor.problems[0].message.contains("is taken"))
        #expect(!"\(editor)".contains("sport"))
        let `operator` = try refusal(try await admin.edit(.application, "news-tv", as: .olga, edit))
        #expect("\(`operator`)".contains("sport-tv") && "\(`operator`)".contains("news-tv"))
    }

    @Test("clients #102: the same for an application that is written after the other one")
    func takenLater() async throws {
        let admin = try await AdministrationWorld(catalogue: Self.catalogue)
        let entry = #"""
            {"id": "late-tv", "name": "Late", "programmer": "harbor", "requestors": ["NEWS"], "platforms": "all", "scopes": ["api:client:v1"],
             "signingKeys": [{"publicKey": "AbCd1234", "secret": "tiny-secret", "requestors": ["NEWS"]}]}
            """#
        let editor = try refusal(try await admin.create(.application, entry, as: .ed))
        #expect(editor.problems.map(\.message) == ["is 'AbCd1234', which is taken"])
        let `operator` = try refusal(try await admin.create(.application, entry, as: .olga))
        #expect(`operator`.problems.map(\.message) == ["is 'AbCd1234', which the application 'sport-tv' has already"])
    }
}
