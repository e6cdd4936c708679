internal import Octets
internal import Clocks
internal import Cryptography
internal import StrictJson

/// The compact JWS form of a media token (RFC 7515 §7.1, ES256), taken apart.
struct CompactTokenDocument: Sendable {
    /// `typ` of the header; keeps other JWS of the same key from passing as media tokens (RFC 8725 §3.11).
    static let type = MediaTokenClaims.type

    let keyIdentifier: String?
    let signature: [UInt8]
    let signedBytes: [UInt8]
    let facts: MediaTokenFacts

    private struct Header: Decodable {
        var alg: String
        var typ: String?
        var kid: String?
        var crit: [String]?
    }

    /// - Returns: `nil` unless the text is a JWS of this kind; `alg` is never taken as an instruction.
    init?(serialized: String) {
        guard serialized.utf8.count <= ReferenceTokenDocument.largestByteCount else { return nil }
        let parts = serialized.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 3, let headerBytes = Base64.url.decode(parts[0]), let payload = Base64.url.decode(parts[1]),
            let signature = Base64.url.decode(parts[2]),
            let header: Header = Self.read(headerBytes),
            header.alg == "ES256", header.typ == Self.type, header.crit == nil,
            let claims: MediaTokenClaims = Self.read(payload), let facts = claims.facts
        else { return nil }
        keyIdentifier = header.kid
        self.signature = signature
        signedBytes = Array("\(parts[0]).\(parts[1])".utf8)
        self.facts = facts
    }

    /// Members that nobody asks for do no harm; one that is there twice does (RFC 7515 §4, RFC 7519 §4).
    private static func read<Value: Decodable>(_ json: [UInt8]) -> Value? {
        guard let document = try? JsonDocument(parsing: json) else { return nil }
        return try? StrictJsonDecoder(ignoresUnknownNames: true).decode(Value.self, from: document)
    }
}
