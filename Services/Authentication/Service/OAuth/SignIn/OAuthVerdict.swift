internal import Clocks
internal import Contracts
internal import Faults

/// The meaning of an OAuth provider's answer (mvpd §3).
enum OAuthVerdict: Sendable {
    case accepted(UpstreamSubject, TokenGrant)
    /// The MVPD or the person said no.
    case declined(String)
    /// Signed in nowhere, and not to be asked.
    case silent
    /// The person has to be asked without the home network.
    case askAfterAll
    /// The two sides do not fit together: an alarm for the operator. With `error` of the MVPD.
    case misconfigured(String)
    case rejected(OAuthRejection)
    /// The MVPD is away: nothing is said of the person.
    case unavailable(Fault)
}

/// Finds out what an answer of an OAuth provider means: asks the provider, and changes nothing here.
struct OAuthAnswerCheck: Sendable {
    let client: ProviderClient
    let identification: OAuthIdentification
    let proofs: SignInProofs
    /// Our callback, exactly as the MVPDs know it.
    let redirectURI: String

    /// - Parameters:
    ///   - request: Of a browser whose `state` and cookie led to a sign-in.
    ///   - attempt: How the person was asked.
    func verdict(
        on request: CompleteOAuthSignInRequest, as attempt: OAuthAttempt, from provider: OAuthProvider, now: Timestamp
    ) async -> OAuthVerdict {
        guard request.issuer.isEmpty || request.issuer == provider.endpoint.issuer else { return .rejected(OAuthRejection(.issuer)) }
        if !request.error.isEmpty { return Self.verdict(on: request.error, as: attempt) }
        guard !request.code.isEmpty else { return .rejected(OAuthRejection(.parameters)) }
        do throws(Fault) {
            return try await redeem(request, provider, now)
        } catch {
            return .unavailable(error)
        }
    }

    private static func verdict(on error: String, as attempt: OAuthAttempt) -> OAuthVerdict {
        if OAuthErrors.trouble.contains(error) { return .unavailable(Fault(.networkReceivedError, "The TV provider reports \(error).")) }
        if OAuthErrors.interaction.contains(error) {
            switch attempt {
            case .passive: return .silent
            case .homeBased: return .askAfterAll
            case .interactive: return .declined(error)
            }
        }
        return error == "access_denied" ? .declined(error) : .misconfigured(error)
    }

    private func redeem(_ request: CompleteOAuthSignInRequest, _ provider: OAuthProvider, _ now: Timestamp) async throws(Fault) -> OAuthVerdict {
        let state = RelayHandle(request.state)
        let budget = CallBudget(provider.endpoint.totalTimeout)
        let grant: TokenGrant
        switch try await client.redeem(
            request.code, verifier: proofs.verifier(state), redirectURI: redirectURI, at: provider, budget: budget)
        {
        case .refused("invalid_grant"): return .rejected(OAuthRejection(.code))
        case .refused(let code): return .misconfigured(code)
        case .granted(let granted): grant = granted
        }
        switch try await identification.identify(grant, nonce: proofs.nonce(state), at: provider, budget: budget, now: now) {
        case .failure(let rejection): return .rejected(rejection)
        case .success(let subject): return .accepted(subject, grant)
        }
    }
}
