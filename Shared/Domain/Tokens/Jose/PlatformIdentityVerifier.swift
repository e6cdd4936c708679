public import Clocks
public import Cryptography

/// The person of a verified platform identity token (rest-v1 §2.6).
public struct PlatformIdentityClaims: Hashable, Sendable {
    public let issuer: String
    public let subject: String
    public let expiresAt: Timestamp
}

/// The tokens of an issuer are checked in this way: agreed on beforehand, so that no token decides anything of it (RFC 8725 §3.1).
public struct PlatformIdentityTrust: Sendable {
    public enum Verification: Sendable {
        /// ES256 or RS256, as each key says.
        case keys(JSONWebKeySet)
        /// HS256 (RFC 7518 §3.2).
        case secret([UInt8])
    }

    /// Its tokens are encrypted in this way (RFC 7516), the signed token inside.
    public struct Encryption: Sendable {
        public enum Key: Sendable {
            /// `dir` (RFC 7518 §4.5).
            case direct([UInt8])
            /// `RSA-OAEP-256` (§4.3).
            case rsa(RSAPrivateKey)

            var algorithm: String {
                switch self {
                case .direct: "dir"
                case .rsa: "RSA-OAEP-256"
                }
            }
        }

        /// `A128GCM` or `A256GCM` (§5.3).
        public enum Content: String, Sendable {
            case a128GCM = "A128GCM"
            case a256GCM = "A256GCM"

            /// Octets of its key.
            var keyLength: Int { self == .a128GCM ? 16 : 32 }
        }

        let key: Key
        let content: Content

        /// - Returns: `nil` when a direct key has another length than the content needs.
        public init?(_ key: Key, _ content: Content) {
            if case .direct(let octets) = key, octets.count != content.keyLength { return nil }
            self.key = key
            self.content = content
        }
    }

    /// Octets of a secret for HS256, at least (RFC 7518 §3.2).
    public static let shortestSecret = 32

    let verification: Verification
    let encryption: Encryption?

    /// - Returns: `nil` for a secret that is too short.
    public init?(_ verification: Verification, encryption: Encryption? = nil) {
        if case .secret(let octets) = verification, octets.count < Self.shortestSecret { return nil }
        self.verification = verification
        self.encryption = encryption
    }
}

/// Checks platform identity tokens (`Adobe-Subject-Token`) as their issuers sign and encrypt them: ES256, RS256 or HS256, alone or inside a JWE.
///
/// The token's `iss` chooses the issuer's record; that decides keys and algorithms, and the token decides neither (RFC 8725 §3.1).
public struct PlatformIdentityVerifier: Sendable {
    /// The audience of every such token; its letter case does not count.
    static let audience = "adobe"
    /// Such tokens carry no type of their own.
    private static let types: Set<String?> = [nil, "jwt"]
    private static let longestName = 1024
    /// An encrypted token does not say whose it is: as many issuers are tried.
    private static let mostDecryptions = 4

    private let trusts: [OctetText: PlatformIdentityTrust]

    /// - Parameter keys: By issuer.
    public init(keys: [OctetText: JSONWebKeySet]) { self.init(trusts: keys.compactMapValues { PlatformIdentityTrust(.keys($0)) }) }

    /// - Parameter trusts: By issuer.
    public init(trusts: [OctetText: PlatformIdentityTrust]) { self.trusts = trusts }

    /// - Throws: The first reason found, in the order form, issuer, type, key, signature, audience, time.
    public func verify(_ token: String, now: Timestamp) throws(TokenRejection) -> PlatformIdentityClaims {
        guard token.utf8.count <= UnverifiedJWS.largestByteCount else { throw .malformed }
        guard token.utf8.count(where: { $0 == UInt8(ascii: ".") }) == 4 else { return try verify(signed: token, by: nil, now: now) }
        let encrypted = try EncryptedToken(token)
        // In the order of their names, so that two copies answer alike.
        let holders = trusts.sorted { $0.key < $1.key }.filter { $0.value.encryption.map(encrypted.isFor) ?? false }
        guard !holders.isEmpty else { throw .wrongAlgorithm }
        for (issuer, trust) in holders.prefix(Self.mostDecryptions) {
            guard let encryption = trust.encryption, let inside = encrypted.decrypted(by: encryption) else { continue }
            return try verify(signed: inside, by: issuer, now: now)
        }
        throw .invalidSignature
    }

    /// - Parameter holder: The issuer with whose key the token was decrypted; `nil`: it was not encrypted.
    private func verify(signed token: String, by holder: OctetText?, now: Timestamp) throws(TokenRejection) -> PlatformIdentityClaims {
        let jws = try UnverifiedJWS(token)
        guard let issuer = jws.claimedIssuer else { throw .malformed }
        guard let trust = trusts[issuer] else { throw .wrongIssuer }
        if let holder {
            guard holder == OctetText(issuer) else { throw .wrongIssuer }
        } else if trust.encryption != nil {
            // Its tokens are encrypted: one that is not came another way.
            throw .wrongType
        }
        let claims: Payload
        switch trust.verification {
        case .keys(let keys): claims = try jws.verified(as: Payload.self, types: Self.types, keys: keys, acceptsUnnamedKey: true)
        case .secret(let secret): claims = try jws.verified(as: Payload.self, types: Self.types, secret: secret)
        }
        guard (1...Self.longestName).contains(claims.sub.utf8.count), (0...ClaimTime.latest).contains(claims.exp) else { throw .malformed }
        guard claims.audience.contains(where: { $0.lowercased() == Self.audience }) else { throw .wrongAudience }
        if let start = claims.nbf, start > now.seconds + AccessTokenVerifier.clockTolerance { throw .notYetValid }
        guard now.seconds < claims.exp else { throw .expired }
        return PlatformIdentityClaims(issuer: issuer, subject: claims.sub, expiresAt: Timestamp(seconds: claims.exp))
    }

    private struct Payload: TokenClaims {
        let sub: String
        let audience: [String]
        // Seconds since 1970.
        let exp: Int64
        let nbf: Int64?

        init(_ claims: TokenObject) throws(TokenRejection) {
            sub = try claims.required("sub")
            audience = try claims.audience()
            exp = try claims.requiredInstant("exp")
            nbf = try claims.instant("nbf", .up)
        }
    }
}

/// A compact JWE (RFC 7516 §7.1) with a signed token inside, which was read but not decrypted.
struct EncryptedToken: Sendable {
    private static let nonceLength = 12
    private static let tagLength = 16
    /// Octets of an encrypted key: of RSA with 8192 bits.
    private static let longestKey = 1024

    private let algorithm: String
    private let content: String
    /// The first part as it was sent: the tag is over it.
    private let context: [UInt8]
    private let encryptedKey: [UInt8]
    private let sealed: [UInt8]

    /// - Parameter text: Not longer than a token may be.
    init(_ text: String) throws(TokenRejection) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 5, let first = Base64.url.decode(parts[0]), let header = TokenObject(first), let key = Base64.url.decode(parts[1]),
            let nonce = Base64.url.decode(parts[2]), let body = Base64.url.decode(parts[3]), let tag = Base64.url.decode(parts[4]),
            key.count <= Self.longestKey, nonce.count == Self.nonceLength, tag.count == Self.tagLength
        else { throw .malformed }
        // Compressed content has no bound before it is decompressed, and extensions must be understood (RFC 7516 §4.1.3, §4.1.13).
        guard header["crit"] == nil, header["zip"] == nil, try header.text("cty").map({ $0.lowercased() == "jwt" }) ?? true else { throw .wrongType }
        algorithm = try header.required("alg")
        content = try header.required("enc")
        context = Array(parts[0].utf8)
        encryptedKey = key
        sealed = nonce + body + tag
    }

    /// True when it was encrypted as that issuer does it.
    func isFor(_ encryption: PlatformIdentityTrust.Encryption) -> Bool {
        guard algorithm == encryption.key.algorithm, content == encryption.content.rawValue else { return false }
        return if case .direct = encryption.key { encryptedKey.isEmpty } else { !encryptedKey.isEmpty }
    }

    /// - Returns: `nil` where the key does not open it; that takes as long whatever is wrong (RFC 7516 §11.5).
    func decrypted(by encryption: PlatformIdentityTrust.Encryption) -> String? {
        let length = encryption.content.keyLength
        var key: [UInt8]
        switch encryption.key {
        case .direct(let octets): key = octets
        case .rsa(let holder):
            key = SecureRandom.bytes(length)
            if let found = try? holder.decrypt(encryptedKey, padding: .oaepSHA256), found.count == length { key = found }
        }
        guard let octets = try? AESGCM.open(sealed, secret: key, context: context) else { return nil }
        return String(validating: octets, as: UTF8.self)
    }
}
