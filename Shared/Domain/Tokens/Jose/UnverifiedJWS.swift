internal import Cryptography
internal import FoundationEssentials
internal import StrictJson

/// A compact JWS (RFC 7515 §7.1) that was read but not verified.
struct UnverifiedJWS: Sendable {
    /// In bytes; longer texts are refused unread.
    static let largestByteCount = 16 * 1024
    /// Keys that are tried for one token: a check costs more than anything else about it.
    static let mostKeys = 4

    struct Header: Sendable {
        let alg: String
        let kid: String?
        let typ: String?
        let isCritical: Bool
    }

    let header: Header
    let payload: [UInt8]
    let signature: [UInt8]
    let signedBytes: [UInt8]

    init(_ text: String) throws(TokenRejection) {
        guard let form = CompactForm(text, largest: Self.largestByteCount), let members = TokenObject(form.header) else { throw .malformed }
        header = Header(
            alg: try members.required("alg"), kid: try members.text("kid"), typ: try members.text("typ"), isCritical: members["crit"] != nil)
        payload = form.payload
        signature = form.signature
        signedBytes = form.signedBytes
    }

    /// The `iss` that the token claims: only for choosing the keys.
    var claimedIssuer: String? { TokenObject(payload).flatMap { try? $0.text("iss") } }

    /// The claims, once the signature was verified by a key that fits the header (RFC 7515 §6, RFC 7517 §4). The algorithm is one of the key's and
    /// one that is accepted, never the token's choice (RFC 8725 §3.1).
    /// - Parameters:
    ///   - types: Values of `typ` that are accepted, in lower case; `nil` stands for an absent one.
    ///   - algorithms: Those that are accepted at all.
    ///   - acceptsUnnamedKey: True: a token without `kid` may be of any key, and one with `kid` of a key that was published without a name.
    func verified<Claims: TokenClaims>(
        as _: Claims.Type, types: Set<String?>, keys: JSONWebKeySet, algorithms: Set<JWSAlgorithm> = [.es256, .rs256],
        acceptsUnnamedKey: Bool = false
    ) throws(TokenRejection) -> Claims {
        guard !header.isCritical, types.contains(header.typ?.lowercased()) else { throw .wrongType }
        let named = keys.candidates(for: header.kid, acceptsUnnamed: acceptsUnnamedKey)
        guard !named.isEmpty else { throw .unknownKey }
        guard let algorithm = JWSAlgorithm(rawValue: header.alg), algorithms.contains(algorithm) else { throw .wrongAlgorithm }
        let fitting = named.filter { $0.serves(algorithm) }
        guard !fitting.isEmpty else { throw .wrongAlgorithm }
        guard fitting.prefix(Self.mostKeys).contains(where: { $0.isValid(signature, for: signedBytes, by: algorithm) }) else {
            throw .invalidSignature
        }
        guard let claims = TokenObject(payload) else { throw .malformed }
        return try Claims(claims)
    }

    /// The same by a secret that both sides have, HS256 alone (RFC 7518 §3.2).
    func verified<Claims: TokenClaims>(as _: Claims.Type, types: Set<String?>, secret: [UInt8]) throws(TokenRejection) -> Claims {
        guard !header.isCritical, types.contains(header.typ?.lowercased()) else { throw .wrongType }
        guard header.alg == "HS256" else { throw .wrongAlgorithm }
        guard HMACSHA256.isValid(signature, for: signedBytes, secret: secret) else { throw .invalidSignature }
        guard let claims = TokenObject(payload) else { throw .malformed }
        return try Claims(claims)
    }
}

/// The three parts of a compact JWS (RFC 7515 §7.1), decoded and not verified.
public struct CompactForm: Sendable {
    public let header: [UInt8]
    public let payload: [UInt8]
    public let signature: [UInt8]
    /// The first two parts as they were sent.
    public let signedBytes: [UInt8]

    /// - Parameter largest: In bytes; longer texts are refused unread.
    /// - Returns: `nil` unless the text is three parts of base64url.
    public init?(_ text: String, largest: Int) {
        guard text.utf8.count <= largest else { return nil }
        let bytes = Array(text.utf8)
        guard let first = bytes.firstIndex(of: UInt8(ascii: ".")), let second = bytes[(first + 1)...].firstIndex(of: UInt8(ascii: ".")),
            let header = Base64.url.decode(Array(bytes[..<first])), let payload = Base64.url.decode(Array(bytes[(first + 1)..<second])),
            let signature = Base64.url.decode(Array(bytes[(second + 1)...]))
        else { return nil }
        self.header = header
        self.payload = payload
        self.signature = signature
        signedBytes = Array(bytes[..<second])
    }
}

/// Writes a compact JWS (RFC 7515 §7.1).
enum CompactJWS {
    /// - Throws: `CryptographyError` of the key, or an encoder's error.
    static func sign(_ claims: some Encodable, type: String, key: JoseSigningKey) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return try sign(payload: Array(try encoder.encode(claims)), type: type, key: key)
    }

    /// - Parameter payload: The claims as JSON.
    static func sign(payload: [UInt8], type: String, key: JoseSigningKey) throws(CryptographyError) -> String {
        let header = JsonWriter.object { header in
            header.member("alg", JWSAlgorithm.es256.rawValue)
            header.member("kid", key.identifier)
            header.member("typ", type)
        }
        let input = Base64.url.encode(header.bytes) + "." + Base64.url.encode(payload)
        return input + "." + Base64.url.encode(try key.privateKey.sign(Array(input.utf8)))
    }
}
