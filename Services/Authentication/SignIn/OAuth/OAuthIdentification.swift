package import AuthenticationCore
package import Catalogue
internal import Clocks
package import Contracts
internal import Cryptography
internal import Faults
package import SamlProfile
package import Tokens

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
    ) async throws(Fault) -> Result<ProviderSubject, OAuthRejection> {
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
            // OpenID Connect Core §5.3.2: of a profile without sub nobody knows whose it is, so that none of its values is used. The id_token
            // identifies.
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

    private func subject(_ claims: ClaimSet, _ endpoint: OAuthEndpoint) -> Result<ProviderSubject, OAuthRejection> {
        guard let user = claims.text(endpoint.userClaim), (1...Self.longestUserID).contains(user.utf8.count), !user.utf8.contains(0) else {
            return .failure(OAuthRejection(.missingSubject))
        }
        let attributes = ClaimMapping(endpoint.attributeMap).attributes(of: claims, userID: user)
        let isHomeBased = claims.isTrue("hba_status") || attributes.contains { $0.key == "hba_status" && $0.values == ["true"] }
        return .success(ProviderSubject(userID: user, name: SubjectName(), isHomeBased: isHomeBased, attributes: attributes))
    }
}

/// Turns the claims of a person into metadata (mvpd §2.5). Nothing that cannot be mapped fails a login.
struct ClaimMapping: Sendable {
    /// Without a map of the endpoint, the claims of these names are taken.
    private static let documented: [Contracts.AttributeMapping] =
        [Contracts.AttributeMapping(target: "userID")]
        + ["zip", "channelID"].map { Contracts.AttributeMapping(source: $0, target: $0, type: .stringList) }
        + ["is_hoh", "hba_status", "allowMirroring", "onNet", "inHome"].map { Contracts.AttributeMapping(source: $0, target: $0, type: .boolean) }
        + ["upstreamUserID", "householdID", "primaryOID", "typeID", "encryptedZip", "maxRating", "language"].map {
            Contracts.AttributeMapping(source: $0, target: $0)
        }
    private static let longestValue = 4096
    private static let mostValues = 1000

    let mappings: [Contracts.AttributeMapping]

    /// - Parameter mappings: The endpoint's; empty: the documented names.
    init(_ mappings: [Contracts.AttributeMapping]) {
        self.mappings = mappings.isEmpty ? Self.documented : mappings
    }

    /// True when claims of the endpoint's own map are not there yet.
    static func lacks(_ mappings: [Contracts.AttributeMapping], in claims: ClaimSet) -> Bool {
        mappings.contains { !$0.source.isEmpty && !claims.has($0.source) }
    }

    func attributes(of claims: ClaimSet, userID: String) -> [UserAttribute] {
        mappings.flatMap { mapping -> [UserAttribute] in
            if mapping.source.isEmpty { return [UserAttribute(key: mapping.target, values: [userID])] }
            return claims.values(mapping.source, as: mapping.target).compactMap { Self.attribute($0.key, $0.values, mapping.type) }
        }
    }

    private static func attribute(_ key: String, _ values: [String], _ type: AttributeType) -> UserAttribute? {
        let usable = values.prefix(mostValues).filter { (1...longestValue).contains($0.utf8.count) && !$0.utf8.contains(0) }
        guard let first = usable.first else { return nil }
        switch type {
        case .boolean: return boolean(first).map { UserAttribute(key: key, values: [$0]) }
        case .stringList: return UserAttribute(key: key, values: usable)
        case .string, .unrecognized: return UserAttribute(key: key, values: [first])
        }
    }

    private static func boolean(_ text: String) -> String? {
        switch text.lowercased() {
        case "true", "1": "true"
        case "false", "0": "false"
        default: nil
        }
    }
}

/// An MVPD that signs people in by OAuth 2.0, with the client that it issued to the requestor (mvpd §3).
package struct OAuthProvider: Hashable, Sendable {
    package let mvpd: Mvpd
    package let endpoint: OAuthEndpoint
    package let clientID: String
    let secretReference: SecretReference
    /// The id of the record that has the endpoint: the MVPD's own, or its proxy's.
    let holder: String

    /// An MVPD behind a proxy that has no endpoint of its own is reached at the proxy's.
    /// - Returns: `nil` for an MVPD that signs people in by another way.
    package init?(_ mvpd: Mvpd, _ integration: Integration, in catalogue: Catalogue) {
        let signIn = mvpd.signIn ?? (mvpd.isProxied ? catalogue.mvpd(mvpd.proxyMvpdID)?.signIn : nil)
        guard case .oauth(let endpoint) = signIn else { return nil }
        self.mvpd = mvpd
        self.endpoint = endpoint
        holder = mvpd.signIn == nil ? mvpd.proxyMvpdID : mvpd.id
        let own = integration.oauthClient ?? OAuthClient(clientID: endpoint.clientID, clientSecretReference: endpoint.clientSecretReference)
        clientID = own.clientID
        secretReference = SecretReference(own.clientSecretReference)
    }

    package var id: MvpdID { MvpdID(mvpd.id) }

    /// Returns where it sends browsers back from now on.
    /// - Parameter shared: The address that records of before share.
    package func callback(_ shared: String) -> OAuthCallback { OAuthCallback(shared: shared, holder: endpoint.callback == .own ? holder : "") }
}

extension OAuthEndpoint {
    /// The claim that is the user id.
    var userClaim: String { userIDClaim.isEmpty ? "sub" : userIDClaim }

    var clockSkew: Int64 { clockSkewSeconds == 0 ? 60 : Int64(clockSkewSeconds) }

    /// Between two reads of the key set.
    var keyRefresh: Duration { .seconds(jwksRefreshSeconds == 0 ? 3600 : Int64(jwksRefreshSeconds)) }

    /// mvpd §4.3: connect 1 s, response 3 s, all of it 5 s.
    package var connectTimeout: Duration { Self.span(connectTimeoutMilliseconds, else: 1000) }
    package var responseTimeout: Duration { Self.span(responseTimeoutMilliseconds, else: 3000) }
    var totalTimeout: Duration { Self.span(totalTimeoutMilliseconds, else: 5000) }

    private static func span(_ milliseconds: UInt32, else fallback: Int64) -> Duration {
        .milliseconds(milliseconds == 0 ? fallback : Int64(milliseconds))
    }
}

/// An OAuth provider's answer is not accepted for this reason; for the log and the metrics.
package struct OAuthRejection: Error, Hashable, Sendable {
    /// The codes are decisions of ours, like those of mvpd §2.3.
    package enum Reason: String, Hashable, Sendable, CaseIterable {
        case unknownState = "state.unknown"
        case parameters = "oauth.params"
        /// The answer came to another address than its sign-in named (RFC 9700 §4.4.2).
        case callback = "oauth.callback"
        /// `iss` of the callback (RFC 9207).
        case issuer = "oauth.issuer"
        /// The code is used, foreign or too old, or the verifier does not fit.
        case code = "oauth.code"
        case missingIdentityToken = "idtoken.missing"
        case identityTokenForm = "idtoken.form"
        case identityTokenAlgorithm = "idtoken.alg"
        case identityTokenKey = "idtoken.key"
        case identityTokenSignature = "idtoken.signature"
        case identityTokenIssuer = "idtoken.issuer"
        case identityTokenAudience = "idtoken.audience"
        case identityTokenParty = "idtoken.azp"
        case identityTokenTime = "idtoken.time"
        case identityTokenNonce = "idtoken.nonce"
        /// The profile is of another person than the `id_token`.
        case profileSubject = "profile.subject"
        case missingSubject = "subject.missing"
    }

    package let reason: Reason
    /// Set where a time was wrong, and would be right by another clock than ours.
    package let clock: OwnClock?

    package init(_ reason: Reason) { (self.reason, clock) = (reason, nil) }

    package init(_ rejection: TokenRejection) {
        clock =
            switch rejection {
            case .notYetValid: .behind
            case .expired: .ahead
            default: nil
            }
        switch rejection {
        case .malformed, .wrongType: reason = .identityTokenForm
        case .wrongAlgorithm: reason = .identityTokenAlgorithm
        case .unknownKey: reason = .identityTokenKey
        case .invalidSignature: reason = .identityTokenSignature
        case .wrongIssuer: reason = .identityTokenIssuer
        case .wrongAudience: reason = .identityTokenAudience
        case .wrongParty: reason = .identityTokenParty
        case .wrongNonce: reason = .identityTokenNonce
        case .notYetValid, .expired: reason = .identityTokenTime
        }
    }
}
