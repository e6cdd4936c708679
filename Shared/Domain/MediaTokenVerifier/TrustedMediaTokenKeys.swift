internal import Octets
public import Cryptography
internal import FoundationEssentials

/// The keys that verify media tokens. Several may be in use during a key rotation; any of them may match.
public struct TrustedMediaTokenKeys: Sendable {
    private var rsa: [RSAPublicKey] = []
    private var p256: [(keyIdentifier: String?, key: P256PublicKey)] = []

    /// No keys yet: until some are added, no token passes.
    public init() {}

    /// - Parameter certificates: Pinned: their dates and issuers are not checked.
    /// - Throws: `CryptographyError` when one holds a key that cannot verify media tokens.
    public init(certificates: [Certificate]) throws(CryptographyError) {
        for certificate in certificates { add(try certificate.publicKey()) }
    }

    public var isEmpty: Bool { rsa.isEmpty && p256.isEmpty }

    /// - Parameter keyIdentifier: `kid`; `nil` lets the key verify a JWS of any `kid`.
    public mutating func add(_ key: PublicKey, keyIdentifier: String? = nil) {
        switch key {
        case .rsa(let key): rsa.append(key)
        case .p256(let key): p256.append((keyIdentifier, key))
        }
    }

    /// Adds the P-256 keys of a JWK set (RFC 7517 §5); other keys are ignored, as §5 requires.
    /// - Throws: `CryptographyError.malformed` when the text is no JWK set or a P-256 key in it is no point of the curve.
    public mutating func add(jwks json: String) throws(CryptographyError) {
        guard let set = try? JSONDecoder().decode(KeySet.self, from: Data(json.utf8)) else { throw .malformed("JWK set") }
        for key in set.keys where key.kty == "EC" && key.crv == "P-256" {
            guard let x = Base64.url.decode(key.x ?? ""), let y = Base64.url.decode(key.y ?? "") else { throw .malformed("JWK set") }
            add(.p256(try P256PublicKey(x: x, y: y)), keyIdentifier: key.kid)
        }
    }

    func isSigned(_ document: ReferenceTokenDocument) -> Bool {
        rsa.contains { $0.isValid(document.signature, for: document.signedBytes) }
    }

    func isSigned(_ document: CompactTokenDocument) -> Bool {
        p256.contains { identifier, key in
            (identifier == nil || identifier == document.keyIdentifier) && key.isValid(document.signature, for: document.signedBytes)
        }
    }

    private struct KeySet: Decodable {
        var keys: [Key]
    }

    private struct Key: Decodable {
        var kty: String
        var crv: String?
        var kid: String?
        var x: String?
        var y: String?
    }
}
