internal import AuthenticationCore
internal import Clocks
internal import Contracts
internal import Cryptography
internal import Faults
internal import Tokens

/// Finds out who the person is for whom an MVPD gave out tokens (mvpd §3).
package struct OAuthIdentification: Sendable {
    private static let longestUserID = 1024

    package let client: ProviderClient
    package let keySets: ProviderKeySets

    package init(client: ProviderClient, keySets: ProviderKeySets) {
        (self.client, self.keySets) = (client, keySets)
    }

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
            switch try await verified(token, nonce: nonce, at: provider, budget: budget, now: now) {
            case .success(let signed): claims = signed
            case .failure(let rejection): return .failure(rejection)
            }
        }
        let isIdentified = claims.has(endpoint.userClaim)
        if !endpoint.profileURL.isEmpty, !isIdentified || ClaimMapping.lacks(endpoint.attributeMap, in: claims) {
            guard let profile = try await profile(grant, provider, budget, isNeeded: !isIdentified) else {
                return subject(claims, endpoint)
            }
            // OpenID Connect Core §5.3.2: of a profile without sub nobody knows whose it is, so that none of its values is used. The id_token identifies.
            if let signed = claims.text("sub") {
                guard let other = profile.text("sub") else { return subject(claims, endpoint) }
                guard OctetText(other) == OctetText(signed) else { return .failure(OAuthRejection(.profileSubject)) }
            }
            claims = claims.merged(with: profile)
        } else if !isIdentified, grant.identityToken == nil {
            return .failure(OAuthRejection(.missingIdentityToken))
        }
        return subject(claims, endpoint)
    }

    /// By the keys at hand, and where none of them fits by those that the provider has now.
    private func verified(
        _ token: String, nonce: String, at provider: OAuthProvider, budget: CallBudget, now: Timestamp
    ) async throws(Fault) -> Result<ClaimSet, OAuthRejection> {
        let endpoint = provider.endpoint
        func verify(_ keys: JSONWebKeySet) throws(TokenRejection) -> ClaimSet {
            let verifier = IdentityTokenVerifier(
                issuer: endpoint.issuer, clientID: provider.clientID, nonce: nonce, keys: keys, clockSkew: endpoint.clockSkew)
            guard let signed = ClaimSet(json: try verifier.verify(token, now: now).claims) else { throw .malformed }
            return signed
        }
        let keys = try await keySets.keys(of: provider, for: IdentityTokenVerifier.claimedKey(of: token), budget: budget)
        do throws(TokenRejection) {
            return .success(try verify(keys))
        } catch {
            guard IdentityTokenVerifier.mayBeOfNewerKey(token, error), let newer = await keySets.newerKeys(of: provider, budget: budget) else {
                return .failure(OAuthRejection(error))
            }
            do throws(TokenRejection) { return .success(try verify(newer)) } catch { return .failure(OAuthRejection(error)) }
        }
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
