public import Clocks
internal import Cryptography

/// Checks service tokens (`AD-Service-Token`): our own, and those of registered identity services, RS256 alone (rest-v2 §1.3).
///
/// The token's `iss` chooses the keys, the key decides the algorithm; the token decides neither (RFC 8725 §3.1).
public struct ServiceTokenVerifier: Sendable {
    private static let types: Set<String?> = [nil, "jwt"]
    private static let longestName = 1024

    private let own: ServiceTokenKeys
    private let others: [OctetText: JSONWebKeySet]

    /// - Parameters:
    ///   - own: The keys of the tokens that we issue.
    ///   - others: The keys of identity services, by issuer; none is called as we are.
    public init(own: ServiceTokenKeys, others: [OctetText: JSONWebKeySet] = [:]) {
        self.own = own
        self.others = others
    }

    /// - Parameter remembrance: How long a token may be over; for one that is to be exchanged.
    /// - Throws: The first reason found, in the order form, issuer, type, key, signature, audience, time.
    public func verify(_ token: String, now: Timestamp, remembrance: Duration = .zero) throws(TokenRejection) -> ServiceTokenClaims {
        let jws = try UnverifiedJWS(token)
        guard let issuer = jws.claimedIssuer else { throw .malformed }
        let isOwn = OctetText(issuer) == OctetText(ServiceTokens.issuer)
        guard let keys = isOwn ? own.keySet : others[issuer] else { throw .wrongIssuer }
        let claims = try jws.verified(as: Payload.self, types: Self.types, keys: keys, algorithms: [.rs256], acceptsUnnamedKey: !isOwn)
        let times = 0...ClaimTime.latest
        guard (1...Self.longestName).contains(claims.sub.utf8.count), times.contains(claims.exp), times.contains(claims.iat ?? 0) else {
            throw .malformed
        }
        let audience = ServiceTokens.audience.lowercased()
        guard claims.audience.contains(where: { OctetText($0.lowercased()) == OctetText(audience) }) else { throw .wrongAudience }
        if let start = claims.nbf, start > now.seconds + AccessTokenVerifier.clockTolerance { throw .notYetValid }
        guard now < Timestamp(seconds: claims.exp) + remembrance else { throw .expired }
        if isOwn, claims.tie == nil { throw .malformed }
        return ServiceTokenClaims(
            issuer: issuer, subject: claims.sub, tie: isOwn ? claims.tie : nil, issuedAt: Timestamp(seconds: claims.iat ?? 0),
            expiresAt: Timestamp(seconds: claims.exp))
    }

    private struct Payload: TokenClaims {
        let sub: String
        let audience: [String]
        // Seconds since 1970.
        let exp: Int64
        let iat: Int64?
        let nbf: Int64?
        let tie: String?

        init(_ claims: TokenObject) throws(TokenRejection) {
            sub = try claims.required("sub")
            audience = try claims.audience()
            exp = try claims.requiredInstant("exp")
            iat = try claims.instant("iat")
            nbf = try claims.instant("nbf", .up)
            tie = try claims.text("tie")
        }
    }
}
