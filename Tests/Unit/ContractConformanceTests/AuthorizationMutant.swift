import AuthorizationService
import Clocks
import ContractRuntime
import Contracts
import Doubles
import Faults
import Synchronization

/// How an authorization service differs from a good one: in what it asks, keeps or answers.
struct AuthorizationMutant: Sendable, CustomStringConvertible {
    let description: String
    /// The requirements that must fail.
    let breaks: [String]
    /// Loses what it keeps with its process.
    var forgets = false
    var catalogue: @Sendable (inout Configuration) -> Void = { _ in }
    var sessions: @Sendable (any Sessions) -> any Sessions = { $0 }
    var store: @Sendable (any AuthorizationStore) -> any AuthorizationStore = { $0 }
    /// For each answer of Decide, what the caller gets.
    var decide: @Sendable (DecideRequest, Decisions) -> Decisions = { $1 }

    static let all = [
        AuthorizationMutant(
            description: "permits everything", breaks: ["AUTHZ-26", "AUTHZ-29", "AUTHZ-33", "AUTHZ-36"],
            decide: { _, decisions in
                decisions.changed { decision in
                    decision.authorized = true
                    decision.refusal = nil
                }
            }),
        AuthorizationMutant(
            description: "never counts a play of a TempPass", breaks: ["AUTHZ-32", "AUTHZ-33", "AUTHZ-35"],
            sessions: { SessionsDouble(withoutPlays: $0) }),
        AuthorizationMutant(description: "keeps permits in memory", breaks: ["AUTHZ-41"], forgets: true),
        AuthorizationMutant(
            description: "keeps no permits", breaks: ["AUTHZ-23", "AUTHZ-36", "AUTHZ-41"], store: { _ in ForgetfulStore() }),
        AuthorizationMutant(
            description: "keeps permits by device", breaks: ["AUTHZ-40"], store: { MutantStore(store: $0) }),
        AuthorizationMutant(
            description: "asks once who is signed in", breaks: ["AUTHZ-2", "AUTHZ-26"],
            sessions: { SessionsDouble(askingOnce: $0) }),
        AuthorizationMutant(
            description: "ignores degradation rules", breaks: ["AUTHZ-30", "AUTHZ-31"], catalogue: { $0.degradationRules = [] }),
        AuthorizationMutant(
            description: "makes tokens that last twice as long", breaks: ["AUTHZ-22"],
            catalogue: { configuration in
                for index in configuration.requestors.indices { configuration.requestors[index].mediaTokenTtlSeconds = 840 }
            }),
        AuthorizationMutant(
            description: "answers in its own order", breaks: ["AUTHZ-25", "AUTHZ-37"],
            decide: { _, decisions in Decisions(decisions: decisions.decisions.reversed()) }),
        AuthorizationMutant(
            description: "leaves out what it denies", breaks: ["AUTHZ-26", "AUTHZ-29", "AUTHZ-37"],
            decide: { _, decisions in Decisions(decisions: decisions.decisions.filter(\.authorized)) }),
        AuthorizationMutant(
            description: "lets no more than two resources be asked for", breaks: ["AUTHZ-25", "AUTHZ-29"],
            catalogue: { configuration in
                for index in configuration.integrations.indices { configuration.integrations[index].preflightMaxResources = 2 }
            }),
        AuthorizationMutant(
            description: "gives tokens with preliminary answers", breaks: ["AUTHZ-25"],
            decide: { request, decisions in
                guard request.isPreliminary else { return decisions }
                return decisions.changed { $0.token = MediaToken(resource: $0.resource) }
            }),
        AuthorizationMutant(
            description: "does not say what an MVPD said", breaks: ["AUTHZ-30", "AUTHZ-36"],
            decide: { _, decisions in decisions.changed { $0.refusal?.details = "" } }),
        AuthorizationMutant(
            description: "does not say who decided", breaks: ["AUTHZ-31", "AUTHZ-32", "AUTHZ-36"],
            decide: { _, decisions in decisions.changed { $0.source = .dummy } }),
    ]
}

extension Decisions {
    fileprivate func changed(_ change: (inout ResourceDecision) -> Void) -> Decisions {
        Decisions(
            decisions: decisions.map { decision in
                var decision = decision
                change(&decision)
                return decision
            })
    }
}

extension AuthorizationDouble {
    /// - Parameter decide: Changes each answer of Decide.
    convenience init(over service: AuthorizationService, decide change: @escaping @Sendable (DecideRequest, Decisions) -> Decisions) {
        self.init(over: service)
        decide.answer { change($0, try await service.decide($0, context: $1)) }
    }
}

private final class FirstAnswers: Sendable {
    let known = Mutex<[String: SessionSubject]>([:])
}

extension SessionsDouble {
    /// Keeps the first answer about a device at an MVPD for good.
    convenience init(askingOnce sessions: any Sessions) {
        self.init(over: sessions)
        let first = FirstAnswers()
        findSession.answer { request, context in
            let key = "\(request.call?.deviceID ?? "") \(request.mvpd)"
            if let subject = first.known.withLock({ $0[key] }) { return subject }
            let subject = try await sessions.findSession(request, context: context)
            first.known.withLock { $0[key] = subject }
            return subject
        }
    }

    /// Counts no play of a TempPass.
    convenience init(withoutPlays sessions: any Sessions) {
        self.init(over: sessions)
        spendTempPass.answer(with: TempPassBalance(expiresAtMilliseconds: 32_503_680_000_000, remainingResources: 1))
    }
}

private struct ForgetfulStore: AuthorizationStore {
    func save(_ token: AuthzToken) async throws(Fault) {}
    func token(_ key: AuthzTokenKey, counts: (AuthzToken) -> Bool) async throws(Fault) -> AuthzToken? { nil }
    func forget(expiredBefore moment: Timestamp) async throws(Fault) {}
}

/// Takes no notice of the session.
private struct MutantStore: AuthorizationStore {
    let store: any AuthorizationStore

    func save(_ token: AuthzToken) async throws(Fault) {
        var token = token
        token.key = Self.key(token.key)
        try await store.save(token)
    }

    func token(_ key: AuthzTokenKey, counts: (AuthzToken) -> Bool) async throws(Fault) -> AuthzToken? {
        try await store.token(Self.key(key), counts: counts)
    }

    func forget(expiredBefore moment: Timestamp) async throws(Fault) { try await store.forget(expiredBefore: moment) }

    private static func key(_ key: AuthzTokenKey) -> AuthzTokenKey {
        AuthzTokenKey(session: "", device: key.device, requestor: key.requestor, resource: key.resource)
    }
}
