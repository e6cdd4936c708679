package import AuthenticationCore
internal import Catalogue
internal import Clocks
package import ContractRuntime
package import Contracts
package import Faults
internal import Identifiers
internal import TextEncodings

/// Signs people in at MVPDs by OAuth 2.0 (mvpd §3).
package struct OAuthMethod: BrowserSignInMethod, CallRegistration {
    let starter: OAuthSignInStarter
    let handOver: HandOver
    let finisher: OAuthSignInFinisher

    package func register(on calls: inout some MethodRegistry) {
        calls.unary(AuthenticationMethods.completeOAuthSignIn) { request, context in try await finish(request, trace: context.trace) }
    }

    package func serves(_ attempt: BrowserAttempt) -> Bool { provider(of: attempt) != nil }

    /// - Throws: `registration_code_spent`.
    package func begin(_ attempt: BrowserAttempt) async throws(Fault) -> SignInStart {
        // An MVPD that cannot answer without showing a page counts as not signed in (mvpd §2.6).
        if attempt.request.isPassive, !attempt.mvpd.passiveAuthnEnabled { return SignInStart(url: attempt.request.redirectURL) }
        let isHandedOver = await handOver.isMade(by: attempt)
        guard let provider = provider(of: attempt) else { throw Fault(.unimplemented, "The MVPD does not sign people in by OAuth.") }
        let kind: OAuthAttempt = attempt.request.isPassive ? .passive : provider.endpoint.attemptHba ? .homeBased : .interactive
        let start = try await starter.begin(
            provider, attempt.record, kind, end: attempt.request.redirectURL, isHandedOver: isHandedOver, now: attempt.now)
        guard let start else { throw RegistrationCodes.spentCode }
        return start
    }

    package func finish(_ answer: CompleteOAuthSignInRequest, trace: TraceContext) async throws(Fault) -> SignInOutcome {
        try await finisher.finish(answer, trace: trace)
    }

    private func provider(of attempt: BrowserAttempt) -> OAuthProvider? {
        OAuthProvider(attempt.mvpd, attempt.integration, in: attempt.catalogue)
    }
}

/// Sends a person to an OAuth provider (mvpd §3).
struct OAuthSignInStarter: Sendable {
    let store: SqlAuthenticationStore
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
            expiresAt: min(record.expiresAt, now + BrowserSignIns.longestPending), way: .oauth(attempt),
            callback: callback)
        guard try await store.begin(pending, now: now) else { return nil }
        metrics.startedSignIns.increment()
        if attempt != .passive { metrics.sentPerson(to: pending.mvpd, at: now) }
        metrics.count(.authnAttempt, record, at: pending.mvpd)
        return SignInStart(
            url: request.url, browserSecret: browser?.text ?? "", expiresInSeconds: UInt32(clamping: (pending.expiresAt - now).components.seconds))
    }
}

/// The address at which an MVPD asks a person to sign in (RFC 6749 §4.1.1, RFC 7636, OpenID Connect Core §3.1.2.1).
package struct AuthorizationRequest: Sendable {
    package let provider: OAuthProvider
    package let attempt: OAuthAttempt
    package let state: RelayHandle
    package let proofs: SignInProofs
    /// Exactly the one that the MVPD knows.
    package let redirectURI: String

    package init(provider: OAuthProvider, attempt: OAuthAttempt, state: RelayHandle, proofs: SignInProofs, redirectURI: String) {
        (self.provider, self.attempt, self.state, self.proofs) = (provider, attempt, state, proofs)
        self.redirectURI = redirectURI
    }

    package var url: String {
        let endpoint = provider.endpoint
        var parameters = [
            ("response_type", "code"), ("client_id", provider.clientID), ("redirect_uri", redirectURI), ("state", state.text),
            ("nonce", proofs.nonce(state)), ("code_challenge", proofs.challenge(state)), ("code_challenge_method", "S256"),
        ]
        if !endpoint.scopes.isEmpty { parameters.append(("scope", endpoint.scopes.joined(separator: " "))) }
        switch attempt {
        case .interactive: break
        case .homeBased: parameters.append((endpoint.forceAuthnParameter, endpoint.forceAuthnValue))
        case .passive: parameters.append(("prompt", "none"))
        }
        return endpoint.authorizeURL + (endpoint.authorizeURL.contains("?") ? "&" : "?") + FormEncoding.encode(parameters)
    }
}
