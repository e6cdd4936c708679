public import Clocks

/// An `id_token` that passed every check (mvpd §3).
public struct VerifiedIdentityToken: Sendable {
    public let subject: String
    /// The claims as they were signed, JSON.
    public let claims: [UInt8]
}

/// Checks the `id_token` of an OpenID provider (OpenID Connect Core §3.1.3.7).
public struct IdentityTokenVerifier: Sendable {
    /// mvpd §3: never `none`, never a shared secret.
    static let algorithms: Set<JWSAlgorithm> = [.rs256, .es256, .ps256]
    private static let types: Set<String?> = [nil, "jwt"]
    private static let longestSubject = 1024
    /// The oldest that a token may be, in seconds: it was requested just now.
    private static let oldest: Int64 = 600

    private let issuer: String
    private let clientID: String
    private let nonce: String
    private let keys: JSONWebKeySet
    private let clockSkew: Int64

    /// - Parameters:
    ///   - issuer: The `iss` that it must have, character by character.
    ///   - clientID: Ours at that provider.
    ///   - nonce: The nonce of the request.
    ///   - keys: The provider's, as it publishes them.
    ///   - clockSkew: Seconds by which the two clocks may differ.
    public init(issuer: String, clientID: String, nonce: String, keys: JSONWebKeySet, clockSkew: Int64) {
        self.issuer = issuer
        self.clientID = clientID
        self.nonce = nonce
        self.keys = keys
        self.clockSkew = clockSkew
    }

    /// - Throws: The first reason found, in the order form, type, algorithm, key, signature, issuer, audience, party, time, nonce.
    public func verify(_ token: String, now: Timestamp) throws(TokenRejection) -> VerifiedIdentityToken {
        let jws = try UnverifiedJWS(token)
        // Before the key lookup: a token with another algorithm is not examined further.
        guard JWSAlgorithm(rawValue: jws.header.alg).map(Self.algorithms.contains) == true else { throw .wrongAlgorithm }
        let claims = try jws.verified(
            as: Payload.self, types: Self.types, keys: keys, algorithms: Self.algorithms, acceptsUnnamedKey: true)
        guard OctetText(claims.iss) == OctetText(issuer) else { throw .wrongIssuer }
        try checkAudience(claims)
        try checkTime(claims, now.seconds)
        guard claims.nonce == nonce else { throw .wrongNonce }
        guard (1...Self.longestSubject).contains(claims.sub.utf8.count) else { throw .malformed }
        return VerifiedIdentityToken(subject: claims.sub, claims: jws.payload)
    }

    /// The `kid` of a token; nothing of the token is checked.
    public static func claimedKey(of token: String) -> String? { (try? UnverifiedJWS(token))?.header.kid }

    /// True when a newer key of the issuer could have signed the token. Then its form and algorithm are accepted ones, and no key at hand fits. An
    /// issuer may replace a key and keep its name, or have no names (RFC 7517 §4.5).
    public static func mayBeOfNewerKey(_ token: String, _ rejection: TokenRejection) -> Bool {
        switch rejection {
        case .invalidSignature: return true
        case .unknownKey, .wrongAlgorithm:
            guard let header = (try? UnverifiedJWS(token))?.header, let algorithm = JWSAlgorithm(rawValue: header.alg) else { return false }
            // A name that is not in the set has a read of its own.
            return algorithms.contains(algorithm) && (header.kid == nil || rejection == .wrongAlgorithm)
        default: return false
        }
    }

    /// An `azp` must be ours; several audiences need none (OpenID Connect Core §3.1.3.7, as its errata 2 have it).
    private func checkAudience(_ claims: Payload) throws(TokenRejection) {
        guard claims.audience.contains(where: { OctetText($0) == OctetText(clientID) }) else { throw .wrongAudience }
        if let party = claims.azp, OctetText(party) != OctetText(clientID) { throw .wrongParty }
    }

    private func checkTime(_ claims: Payload, _ now: Int64) throws(TokenRejection) {
        guard (0...ClaimTime.latest).contains(claims.exp), (0...ClaimTime.latest).contains(claims.iat) else { throw .malformed }
        guard claims.iat <= now + clockSkew else { throw .notYetValid }
        if let start = claims.nbf, start > now + clockSkew { throw .notYetValid }
        guard now < claims.exp + clockSkew, now - Self.oldest - clockSkew <= claims.iat else { throw .expired }
    }

    private struct Payload: TokenClaims {
        let iss: String
        let sub: String
        let audience: [String]
        let azp: String?
        // Seconds since 1970.
        let exp: Int64
        let iat: Int64
        let nbf: Int64?
        let nonce: String?

        init(_ claims: TokenObject) throws(TokenRejection) {
            iss = try claims.required("iss")
            sub = try claims.required("sub")
            audience = try claims.audience()
            azp = try claims.text("azp")
            exp = try claims.requiredInstant("exp")
            iat = try claims.requiredInstant("iat")
            nbf = try claims.instant("nbf", .up)
            nonce = try claims.text("nonce")
        }
    }
}
