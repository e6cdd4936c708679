import Contracts
import Faults
import Testing

/// The plan that a test sign-in by a draft gets, and the administrators who get it.
@Suite(.eachEngine) struct TestPreparationTests {
    private typealias Who = AdministrationWorld.Who

    private func prepare(
        _ admin: AdministrationWorld, _ who: Who = .olga, _ requestor: String = "NEWS", _ mvpd: String = "TinyCable",
        secrets: SecretInventory? = nil
    ) async throws -> TestSignInPreparation.Outcome? {
        let request = PrepareTestSignInRequest(token: who.token, requestorID: requestor, mvpdID: mvpd, secrets: secrets)
        return try await admin.service.prepareTestSignIn(request, context: .init()).outcome
    }

    private func plan(_ outcome: TestSignInPreparation.Outcome?) throws -> TestSignInPlan {
        guard case .plan(let plan) = outcome else { throw Fault(.internal, "\(String(describing: outcome))") }
        return plan
    }

    private func refusal(_ outcome: TestSignInPreparation.Outcome?) throws -> Refusal {
        guard case .refusal(let refusal) = outcome else { throw Fault(.internal, "it was allowed") }
        return refusal
    }

    private func fault(_ body: () async throws -> Void) async -> Fault.Code? {
        do { try await body() } catch { return (error as? Fault)?.code }
        return nil
    }

    @Test("requestor, MVPD and integration come as the draft has them, switched on, and nothing else; the audit log has it")
    func handsOutTheDraft() async throws {
        let admin = try await AdministrationWorld()
        let live = try plan(try await prepare(admin))
        #expect(live.draftEtag.isEmpty && live.configuration?.mvpds.map(\.displayName) == ["Tiny Cable"])
        try await admin.edit(.mvpd, "TinyCable") { $0["displayName"] = "Tinier Cable" }
        try await admin.edit(.integration, "NEWS/TinyCable") { $0["enabled"] = false }
        let tried = try plan(try await prepare(admin))
        let configuration = try #require(tried.configuration)
        #expect(tried.draftEtag == (try await admin.draft().etag))
        #expect(configuration.mvpds.map(\.displayName) == ["Tinier Cable"] && configuration.requestors.map(\.id) == ["NEWS"])
        #expect(configuration.integrations.map(\.enabled) == [true] && configuration.applications.isEmpty && configuration.statementKeys.isEmpty)
        // The view of others, and the live catalogue, are as they were.
        #expect(try plan(try await prepare(admin, .ed)).configuration?.mvpds.map(\.displayName) == ["Tiny Cable"])
        #expect(try await admin.versions().count == 1)
        let records = try await admin.audit().filter { $0.action == "sign_in_tested" }
        #expect(records.map(\.author) == ["ed", "olga", "olga"] && records[1].text.contains("the draft") && records[2].text.contains("version 1"))
    }

    @Test("who could not push it cannot try it, and a foreign integration is none")
    func needsRights() async throws {
        let admin = try await AdministrationWorld()
        #expect(await fault { _ = try await prepare(admin, .vic) } == .insufficientRole)
        #expect(await fault { _ = try await prepare(admin, .stranger) } == .accessDenied)
        #expect(await fault { _ = try await prepare(admin, .rita) } == .notFound)
        #expect(await fault { _ = try await prepare(admin, .olga, "NEWS", "Nobody") } == .notFound)
        #expect(await fault { _ = try await prepare(admin, .olga, "NOBODY") } == .notFound)
        #expect(try await !admin.audit().contains { $0.action == "sign_in_tested" })
    }

    @Test("where nobody signs in there is nothing to try")
    func refusesTempPass() async throws {
        let admin = try await AdministrationWorld()
        let refusal = try refusal(try await prepare(admin, .olga, "NEWS", "Trial"))
        #expect(refusal.reason == .invalid && refusal.problems.first?.message.contains("TempPass") == true)
    }

    @Test("a secret that a push could not name cannot be tried either")
    func needsSecrets() async throws {
        let admin = try await AdministrationWorld()
        try await admin.edit(.mvpd, "TinyCable") { entry in
            var oauth = entry["oauth"] as? [String: Any] ?? [:]
            oauth["clientSecretReference"] = "tiny-2"
            entry["oauth"] = oauth
        }
        let missing = try refusal(try await prepare(admin, secrets: SecretInventory(knowledge: .told)))
        #expect(missing.problems.first?.message.contains("'tiny-2'") == true)
        let foreign = SecretInventory(knowledge: .told, secrets: [KnownSecret(reference: "tiny-2", programmerID: "reef")])
        #expect(try refusal(try await prepare(admin, secrets: foreign)).problems.count == 1)
        let there = SecretInventory(knowledge: .told, secrets: [KnownSecret(reference: "tiny-2")])
        #expect(try plan(try await prepare(admin, secrets: there)).configuration?.mvpds.count == 1)
    }
}
