package import AuthenticationCore
package import Clocks
package import Contracts
package import Faults

/// The meaning of an OAuth provider's answer (mvpd §3).
package enum OAuthVerdict: Sendable {
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
package struct OAuthAnswerCheck: Sendable {
    package let client: ProviderClient
    package let identification: OAuthIdentification
    package let proofs: SignInProofs
    /// The callback that records of before share, exactly as the MVPDs know it.
    package let sharedCallback: String
    package let sharedRule: SharedCallbackRule
    package let announcements: ProviderAnnouncements

    package init(
        client: ProviderClient, identification: OAuthIdentification, proofs: SignInProofs, sharedCallback: String, sharedRule: SharedCallbackRule,
        announcements: ProviderAnnouncements
    ) {
        (self.client, self.identification, self.proofs, self.sharedCallback) = (client, identification, proofs, sharedCallback)
        (self.sharedRule, self.announcements) = (sharedRule, announcements)
    }

    /// - Parameters:
    ///   - request: Of a browser whose `state` and cookie led to a sign-in.
    ///   - attempt: How the person was asked.
    ///   - callback: As the sign-in began; `nil`: a release before began it, which knew the shared one alone.
    package func verdict(
        on request: CompleteOAuthSignInRequest, as attempt: OAuthAttempt, at callback: OAuthCallback?, from provider: OAuthProvider, now: Timestamp
    ) async -> OAuthVerdict {
        let callback = callback ?? OAuthCallback(shared: sharedCallback, holder: "")
        guard callback.isAt(request.callback) else { return .rejected(OAuthRejection(.callback)) }
        guard await isOfIssuer(request, callback, provider) else { return .rejected(OAuthRejection(.issuer)) }
        if !request.error.isEmpty { return Self.verdict(on: request.error, as: attempt) }
        guard !request.code.isEmpty else { return .rejected(OAuthRejection(.parameters)) }
        do throws(Fault) {
            return try await redeem(request, callback, provider, now)
        } catch {
            return .unavailable(error)
        }
    }

    /// Whether the answer says whose it is, as far as that is known of this provider: an `iss` that is sent counts always; that it is sent is asked of providers that
    /// announce it (RFC 9207 §2.4), and at the shared address where the settings say so.
    private func isOfIssuer(_ request: CompleteOAuthSignInRequest, _ callback: OAuthCallback, _ provider: OAuthProvider) async -> Bool {
        if !request.issuer.isEmpty { return OctetText(request.issuer) == OctetText(provider.endpoint.issuer) }
        if provider.endpoint.requiresIssuer || callback.holder.isEmpty && sharedRule == .iss { return false }
        return await !announcements.includeIssuer(of: provider)
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

    private func redeem(
        _ request: CompleteOAuthSignInRequest, _ callback: OAuthCallback, _ provider: OAuthProvider, _ now: Timestamp
    ) async throws(Fault) -> OAuthVerdict {
        let state = RelayHandle(request.state)
        let budget = CallBudget(provider.endpoint.totalTimeout)
        let grant: TokenGrant
        switch try await client.redeem(
            request.code, verifier: proofs.verifier(state), redirectURI: callback.address, at: provider, budget: budget)
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
