public import Clocks
internal import Cryptography
internal import FoundationEssentials

/// The person of a verified platform identity token (rest-v1 §2.6).
public struct PlatformIdentityClaims: Hashable, Sendable {
    public let issuer: String
    public let subject: String
    public let expiresAt: Timestamp
}

/// Checks platform identity tokens (`Adobe-Subject-Token`), ES256 or RS256, with the keys of the trusted issuers.
///
/// The token's `iss` chooses the keys, the key decides the algorithm; the token decides neither (RFC 8725 §3.1).
public struct PlatformIdentityVerifier: Sendable {
    /// The audience of every such token; its letter case does not count.
    static let audience = "adobe"
    /// Such tokens carry no type of their own.
    private static let types: Set<String?> = [nil, "jwt"]
    private static let longestName = 1024

    private let keys: [OctetText: JSONWebKeySet]

    /// - Parameter keys: By issuer.
    public init(keys: [OctetText: JSONWebKeySet]) { self.keys = keys }

    /// - Throws: The first reason found, in the order form, issuer, type, key, signature, audience, time.
    public func verify(_ token: String, now: Timestamp) throws(TokenRejection) -> PlatformIdentityClaims {
        let jws = try UnverifiedJWS(token)
        guard let issuer = jws.claimedIssuer else { throw .malformed }
        guard let keys = keys[issuer] else { throw .wrongIssuer }
        let claims = try jws.verified(as: Payload.self, types: Self.types, keys: keys, acceptsUnnamedKey: true)
        guard (1...Self.longestName).contains(claims.sub.utf8.count), (0...ClaimTime.latest).contains(claims.exp) else { throw .malformed }
        guard claims.aud.names.contains(where: { $0.lowercased() == Self.audience }) else { throw .wrongAudience }
        if let start = claims.nbf, start > now.seconds + AccessTokenVerifier.clockTolerance { throw .notYetValid }
        guard now.seconds < claims.exp else { throw .expired }
        return PlatformIdentityClaims(issuer: issuer, subject: claims.sub, expiresAt: Timestamp(seconds: claims.exp))
    }

    private struct Payload: Decodable {
        let sub: String
        let aud: TokenAudience
        // Seconds since 1970.
        let exp: Int64
        let nbf: Int64?
    }
}
