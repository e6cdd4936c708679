internal import Cryptography
internal import FoundationEssentials

/// A compact JWS (RFC 7515 §7.1) that was read but not verified.
struct UnverifiedJWS: Sendable {
    /// In bytes; longer texts are refused unread.
    static let largestByteCount = 16 * 1024

    struct Header: Codable, Sendable {
        var alg: String
        var kid: String?
        var typ: String?
        var crit: [String]?
    }

    let header: Header
    let payload: [UInt8]
    let signature: [UInt8]
    let signedBytes: [UInt8]

    init(_ text: String) throws(TokenRejection) {
        guard text.utf8.count <= Self.largestByteCount else { throw .malformed }
        let parts = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 3, let header = Base64.url.decode(parts[0]), let payload = Base64.url.decode(parts[1]),
            let signature = Base64.url.decode(parts[2]), let fields = try? JSONDecoder().decode(Header.self, from: Data(header))
        else { throw .malformed }
        self.header = fields
        self.payload = payload
        self.signature = signature
        signedBytes = Array("\(parts[0]).\(parts[1])".utf8)
    }

    /// The claims, once the signature was verified by the key that `kid` names; the algorithm is the key's, never the token's choice
    /// (RFC 8725 §3.1).
    /// - Parameter types: Values of `typ` that are accepted, in lower case; `nil` stands for an absent one.
    func verified<Claims: Decodable>(
        as _: Claims.Type, types: Set<String?>, keys: JSONWebKeySet
    ) throws(TokenRejection) -> Claims {
        guard header.crit == nil, types.contains(header.typ?.lowercased()) else { throw .wrongType }
        guard let identifier = header.kid, let key = keys.key(identifier) else { throw .unknownKey }
        guard header.alg == key.algorithm.rawValue else { throw .wrongAlgorithm }
        guard key.isValid(signature, for: signedBytes) else { throw .invalidSignature }
        guard let claims = try? JSONDecoder().decode(Claims.self, from: Data(payload)) else { throw .malformed }
        return claims
    }
}
