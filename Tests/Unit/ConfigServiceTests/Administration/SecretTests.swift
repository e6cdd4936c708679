import Contracts
import Faults
import Testing

/// Who may write a secret, and what a push may name (clients #99).
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
}
