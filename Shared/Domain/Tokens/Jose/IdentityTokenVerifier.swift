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
    ///   - nonce: What the request carried.
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
        guard claims.iss == issuer else { throw .wrongIssuer }
        try checkAudience(claims)
        try checkTime(claims, now.seconds)
        guard claims.nonce == nonce else { throw .wrongNonce }
        guard (1...Self.longestSubject).contains(claims.sub.utf8.count) else { throw .malformed }
        return VerifiedIdentityToken(subject: claims.sub, claims: jws.payload)
    }

    /// The `kid` of a token; nothing of the token is checked.
    public static func claimedKey(of token: String) -> String? { (try? UnverifiedJWS(token))?.header.kid }

    /// Several audiences need an `azp` that names the requesting client; an `azp` must always be ours.
    private func checkAudience(_ claims: Payload) throws(TokenRejection) {
        guard claims.aud.names.contains(clientID) else { throw .wrongAudience }
        if let party = claims.azp {
            guard party == clientID else { throw .wrongParty }
        } else if claims.aud.names.count > 1 {
            throw .wrongParty
        }
    }

    private func checkTime(_ claims: Payload, _ now: Int64) throws(TokenRejection) {
        guard (0...ClaimTime.latest).contains(claims.exp), (0...ClaimTime.latest).contains(claims.iat) else { throw .malformed }
        guard claims.iat <= now + clockSkew else { throw .notYetValid }
        if let start = claims.nbf, start > now + clockSkew { throw .notYetValid }
        guard now < claims.exp + clockSkew, now - Self.oldest - clockSkew <= claims.iat else { throw .expired }
    }

    private struct Payload: Decodable {
        let iss: String
        let sub: String
        let aud: TokenAudience
        let azp: String?
        // Seconds since 1970.
        let exp: Int64
        let iat: Int64
        let nbf: Int64?
        let nonce: String?
    }
}
