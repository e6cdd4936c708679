internal import Clocks
internal import Contracts
internal import Faults
internal import Tokens

/// Finds out who the person is for whom an MVPD gave out tokens (mvpd §3).
struct OAuthIdentification: Sendable {
    private static let longestUserID = 1024

    let client: ProviderClient
    let keySets: ProviderKeySets

    /// By the `id_token`, where one came that can be checked, else by the profile. The profile is asked too for claims of the endpoint's map that
    /// the `id_token` lacks; whether it answers then decides nothing.
    /// - Returns: Why nobody is signed in, or the person.
    /// - Throws: `network_received_error`, `network_connection_timeout`, `overloaded`: the MVPD is away.
    func identify(
        _ grant: TokenGrant, nonce: String, at provider: OAuthProvider, budget: CallBudget, now: Timestamp
    ) async throws(Fault) -> Result<UpstreamSubject, OAuthRejection> {
        let endpoint = provider.endpoint
        var claims = ClaimSet()
        if let token = grant.identityToken, !endpoint.jwksURL.isEmpty {
            let keys = try await keySets.keys(of: provider, for: IdentityTokenVerifier.claimedKey(of: token), budget: budget)
            let verifier = IdentityTokenVerifier(
                issuer: endpoint.issuer, clientID: provider.clientID, nonce: nonce, keys: keys, clockSkew: endpoint.clockSkew)
            do throws(TokenRejection) {
                guard let signed = ClaimSet(json: try verifier.verify(token, now: now).claims) else {
                    return .failure(OAuthRejection(.identityTokenForm))
                }
                claims = signed
            } catch {
                return .failure(OAuthRejection(error))
            }
        }
        let isIdentified = claims.has(endpoint.userClaim)
        if !endpoint.profileURL.isEmpty, !isIdentified || ClaimMapping.lacks(endpoint.attributeMap, in: claims) {
            guard let profile = try await profile(grant, provider, budget, isNeeded: !isIdentified) else {
                return subject(claims, endpoint)
            }
            // OpenID Connect Core §5.3.2.
            if let signed = claims.text("sub"), profile.text("sub") != signed { return .failure(OAuthRejection(.profileSubject)) }
            claims = claims.merged(with: profile)
        } else if !isIdentified, grant.identityToken == nil {
            return .failure(OAuthRejection(.missingIdentityToken))
        }
        return subject(claims, endpoint)
    }

    private func profile(
        _ grant: TokenGrant, _ provider: OAuthProvider, _ budget: CallBudget, isNeeded: Bool
    ) async throws(Fault) -> ClaimSet? {
        do throws(Fault) {
            return try await client.profile(grant.accessToken, at: provider, budget: budget)
        } catch {
            if isNeeded { throw error }
            return nil
        }
    }

    private func subject(_ claims: ClaimSet, _ endpoint: OAuthEndpoint) -> Result<UpstreamSubject, OAuthRejection> {
        guard let user = claims.text(endpoint.userClaim), (1...Self.longestUserID).contains(user.utf8.count), !user.utf8.contains(0) else {
            return .failure(OAuthRejection(.missingSubject))
        }
        let attributes = ClaimMapping(endpoint.attributeMap).attributes(of: claims, userID: user)
        let isHomeBased = claims.isTrue("hba_status") || attributes.contains { $0.key == "hba_status" && $0.values == ["true"] }
        return .success(UpstreamSubject(userID: user, name: SubjectName(), isHomeBased: isHomeBased, attributes: attributes))
    }
}
