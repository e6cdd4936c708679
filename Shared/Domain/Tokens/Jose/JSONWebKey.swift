public import Cryptography

/// A public key that verifies JWS, with its name.
public struct JSONWebKey: Sendable {
    /// `kid`.
    public let identifier: String
    public let publicKey: PublicKey
    /// `alg`; without one, what is usual for the kind of key.
    public let algorithm: JWSAlgorithm
    private let namesAlgorithm: Bool

    /// - Parameters:
    ///   - identifier: `nil` takes the key's thumbprint (RFC 7638).
    ///   - algorithm: The only one that the key is for; `nil`: every one that fits its kind. It must fit.
    public init(_ publicKey: PublicKey, identifier: String? = nil, algorithm: JWSAlgorithm? = nil) {
        self.publicKey = publicKey
        self.identifier = identifier ?? Self.thumbprint(publicKey)
        self.algorithm = algorithm ?? Self.algorithms(of: publicKey)[0]
        namesAlgorithm = algorithm != nil
    }

    /// Those that fit a kind of key, the usual one first.
    static func algorithms(of key: PublicKey) -> [JWSAlgorithm] {
        switch key {
        case .p256: [.es256]
        case .rsa: [.rs256, .ps256]
        }
    }

    /// Whether the key may be used with the algorithm: the key decides, never the token (RFC 8725 §3.1).
    func serves(_ algorithm: JWSAlgorithm) -> Bool {
        namesAlgorithm ? algorithm == self.algorithm : Self.algorithms(of: publicKey).contains(algorithm)
    }

    func isValid(_ signature: [UInt8], for bytes: [UInt8], by algorithm: JWSAlgorithm) -> Bool {
        switch (publicKey, algorithm) {
        case (.p256(let key), .es256): key.isValid(signature, for: bytes)
        case (.rsa(let key), .rs256): key.isValid(signature, for: bytes)
        case (.rsa(let key), .ps256): key.isValid(signature, for: bytes, scheme: .pss)
        default: false
        }
    }

    /// RFC 7638: SHA-256 of the required members in alphabetical order, Base64url.
    static func thumbprint(_ key: PublicKey) -> String {
        let members = Members(key)
        let text =
            switch key {
            case .p256: #"{"crv":"P-256","kty":"EC","x":"\#(members.x ?? "")","y":"\#(members.y ?? "")"}"#
            case .rsa: #"{"e":"\#(members.e ?? "")","kty":"RSA","n":"\#(members.n ?? "")"}"#
            }
        return Base64.url.encode(SHA256.hash(text))
    }
}

extension JSONWebKey {
    /// The members of a JWK (RFC 7517 §4, RFC 7518 §6) that are used here.
    struct Members: Codable {
        var kty: String
        var kid: String?
        var alg: String?
        var use: String?
        var crv: String?
        var x: String?
        var y: String?
        var n: String?
        var e: String?

        init(_ key: PublicKey) {
            switch key {
            case .p256(let key):
                let (x, y) = key.coordinates
                kty = "EC"
                crv = "P-256"
                self.x = Base64.url.encode(x)
                self.y = Base64.url.encode(y)
            case .rsa(let key):
                kty = "RSA"
                n = Base64.url.encode(key.modulus)
                e = Base64.url.encode(key.exponent)
            }
        }
    }

    var members: Members {
        var members = Members(publicKey)
        members.kid = identifier
        members.alg = algorithm.rawValue
        members.use = "sig"
        return members
    }

    /// - Returns: `nil` for a key of another kind or use, to be ignored as RFC 7517 §5 requires.
    /// - Throws: `CryptographyError` when a key of our kind is broken or too weak.
    static func read(_ members: Members) throws(CryptographyError) -> JSONWebKey? {
        guard members.use == nil || members.use == "sig" else { return nil }
        let algorithm = members.alg.flatMap(JWSAlgorithm.init)
        guard members.alg == nil || algorithm != nil else { return nil }
        let key: PublicKey
        switch members.kty {
        case "EC" where members.crv == "P-256": key = .p256(try P256PublicKey(x: number(members.x), y: number(members.y)))
        case "RSA": key = .rsa(try RSAPublicKey(modulus: number(members.n), exponent: number(members.e)))
        default: return nil
        }
        guard algorithm.map(algorithms(of: key).contains) ?? true else { return nil }
        return JSONWebKey(key, identifier: members.kid, algorithm: algorithm)
    }

    private static func number(_ text: String?) throws(CryptographyError) -> [UInt8] {
        guard let text, let bytes = Base64.url.decode(text), !bytes.isEmpty else { throw .malformed("JWK") }
        return bytes
    }
}
