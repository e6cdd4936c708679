internal import Clocks
internal import Contracts
internal import Faults
internal import Identifiers

/// Sends a person to an OAuth provider (mvpd §3).
struct OAuthSignInStarter: Sendable {
    let store: any AuthenticationStore
    let random: any RandomSource
    let proofs: SignInProofs
    /// The callback that records of before share, exactly as the MVPDs know it.
    let sharedCallback: String
    let metrics: AuthenticationMetrics

    /// - Parameters:
    ///   - end: Where the browser goes when the sign-in is over.
    ///   - isHandedOver: Any agent may bring the answer.
    /// - Returns: `nil` when the registration code is no longer live or has been used.
    func begin(
        _ provider: OAuthProvider, _ record: RegistrationRecord, _ attempt: OAuthAttempt, end: String, isHandedOver: Bool = false,
        now: Timestamp
    ) async throws(Fault) -> SignInStart? {
        let state = proofs.state(from: random)
        let browser = isHandedOver ? nil : BrowserSecret.random(from: random)
        let callback = provider.callback(sharedCallback)
        let request = AuthorizationRequest(provider: provider, attempt: attempt, state: state, proofs: proofs, redirectURI: callback.address)
        let pending = PendingSignIn(
            requestID: .random(from: random), relayState: state.digest, browserSecret: browser?.digest, record: record.id, code: record.code,
            requestor: record.requestor, mvpd: provider.id, issuerSent: provider.clientID, redirectURL: end, startedAt: now,
            expiresAt: min(record.expiresAt, now + SignInStarter.longestPending), way: .oauth(attempt),
            callback: callback)
        guard try await store.begin(pending, now: now) else { return nil }
        metrics.startedSignIns.increment()
        if attempt != .passive { metrics.mvpds?.count(.begun, mvpd: pending.mvpd.text) }
        metrics.count(.authnAttempt, record, at: pending.mvpd)
        return SignInStart(
            url: request.url, browserSecret: browser?.text ?? "", expiresInSeconds: UInt32(clamping: (pending.expiresAt - now).components.seconds))
    }
}
