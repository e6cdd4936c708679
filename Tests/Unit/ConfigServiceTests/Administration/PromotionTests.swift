import ConfigService
import ContractRuntime
import Contracts
import Foundation
import Testing

@Suite("Differences between two clusters", .eachEngine)
struct PromotionTests {
    private func promote(
        _ admin: AdministrationWorld, _ catalogue: String, endpoints: Bool = false, others: Bool = false, as who: AdministrationWorld.Who = .olga
    ) async throws -> DraftOutcome.Outcome {
        let request = PromoteCatalogueRequest(token: who.token, catalogue: catalogue, keepEndpoints: endpoints, keepOthers: others)
        return try #require(try await admin.service.promoteCatalogue(request, context: CallContext()).outcome)
    }

    private func lines(_ outcome: DraftOutcome.Outcome) throws -> [String] {
        guard case .draft(let draft) = outcome else { throw AdministrationWorld.Unexpected(description: "\(outcome)") }
        return draft.changes.map { "\($0.entityID): \($0.property)" }
    }

    /// As the other cluster exports it.
    private func exported(_ admin: AdministrationWorld) async throws -> String {
        let newest = try #require(try await admin.versions().first)
        let request = GetVersionRequest(token: AdministrationWorld.Who.olga.token, version: newest.version)
        return try await admin.service.getVersion(request, context: CallContext()).documentJson
    }

    @Test("dashboard #3: what was pushed in one cluster is not in the other; promoted, its differences alone are a draft there")
    func promotes() async throws {
        let (prequal, release) = (try await AdministrationWorld(), try await AdministrationWorld())
        try await prequal.edit(.requestor, "NEWS") { $0["name"] = "Late News" }.changed()
        try await prequal.push("rename").version()
        #expect(release.requestorName("NEWS") == "News")
        let outcome = try await promote(release, try await exported(prequal))
        #expect(try lines(outcome) == ["NEWS: name"])
        #expect(release.requestorName("NEWS") == "News")
        try await release.push("from prequal").version()
        #expect(release.requestorName("NEWS") == "Late News")
        #expect(try lines(try await promote(release, try await exported(prequal))).isEmpty)
    }

    @Test("references of secrets stay; endpoints and entries that only this cluster has stay where that is asked for")
    func keeps() async throws {
        let other = AdministrationWorld.catalogue
            .replacingOccurrences(of: "https://tiny.example", with: "https://staging.tiny.example")
            .replacingOccurrences(of: "https://pdp.tiny.example", with: "https://pdp.staging.tiny.example")
            .replacingOccurrences(of: "tiny-secret", with: "staging-secret").replacingOccurrences(
                of: #""authnTtl": 2592000"#, with: #""authnTtl": 86400"#
            )
            .replacingOccurrences(of: #", {"requestor": "NEWS", "mvpd": "Trial"}"#, with: "")
        let kept = try await AdministrationWorld()
        #expect(try lines(try await promote(kept, other, endpoints: true, others: true)) == ["TinyCable: authnTtl"])
        let whole = try await AdministrationWorld()
        let changes = try lines(try await promote(whole, other))
        #expect(changes.contains("TinyCable: oauth.tokenUrl") && changes.contains("TinyCable: authorization.url") && changes.contains("NEWS/Trial: "))
        #expect(!changes.contains { $0.contains("clientSecretReference") })
    }

    @Test("an editor's draft has what is theirs; a draft is not overwritten, and what is no catalogue is refused")
    func refuses() async throws {
        let admin = try await AdministrationWorld()
        let other = AdministrationWorld.catalogue
            .replacingOccurrences(of: #""name": "News","#, with: #""name": "Late News","#)
            .replacingOccurrences(of: #""name": "Sport","#, with: #""name": "Games","#)
        #expect(try lines(try await promote(admin, other, as: .ed)) == ["NEWS: name"])
        guard case .refusal(let busy) = try await promote(admin, other, as: .ed) else { Issue.record("taken"); return }
        #expect(busy.reason == .preconditionFailed)
        for text in ["", "[]", "{}", #"{"programmers": [], "requestors": [], "mvpds": {}, "integrations": []}"#] {
            guard case .refusal(let refusal) = try await promote(admin, text) else { Issue.record("taken: \(text)"); return }
            #expect(refusal.problems.map(\.field) == ["catalogue"])
        }
        #expect(try await code { try await promote(admin, other, as: .vic) } == .insufficientRole)
    }
}
