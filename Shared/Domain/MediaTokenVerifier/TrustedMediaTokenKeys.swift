internal import Octets
public import Cryptography
internal import StrictJson

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

    /// Adds the P-256 keys of a JWK set. Each entry is read by itself: what cannot be used is ignored, as RFC 7517 §5 demands.
    /// - Throws: `CryptographyError.malformed` when the text is no JWK set, or names P-256 keys of which none can be used.
    public mutating func add(jwks json: String) throws(CryptographyError) {
        guard let document = try? JsonDocument(parsing: Array(json.utf8)), let entries = Self.keys(document.root) else { throw .malformed("JWK set") }
        let named = entries.filter { $0["kty"] == "EC" && $0["crv"] == "P-256" }
        let keys = named.compactMap { entry -> (String?, P256PublicKey)? in
            guard let x = Base64.url.decode(entry["x"] ?? ""), let y = Base64.url.decode(entry["y"] ?? ""), let key = try? P256PublicKey(x: x, y: y)
            else { return nil }
            return (entry["kid"], key)
        }
        guard named.isEmpty || !keys.isEmpty else { throw .malformed("JWK set") }
        for (identifier, key) in keys { add(.p256(key), keyIdentifier: identifier) }
    }

    /// The texts of each entry; one that has a member twice, or a `kid` that is no text, is left out.
    private static func keys(_ root: JsonNode) -> [[String: String]]? {
        guard case .object(let members) = root.content, let keys = members.first(where: { $0.name == "keys" })?.value,
            case .array(let entries) = keys.content, members.count(where: { $0.name == "keys" }) == 1
        else { return nil }
        return entries.compactMap { entry in
            guard case .object(let members) = entry.content else { return nil }
            var texts: [String: String] = [:]
            for name in ["kty", "crv", "kid", "x", "y"] {
                let found = members.filter { $0.name == name }
                guard let member = found.first else { continue }
                guard found.count == 1, case .string(let text) = member.value.content else { return nil }
                texts[name] = text
            }
            return texts
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
}
