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
        guard let form = CompactForm(text, largest: Self.largestByteCount),
            let fields = try? JSONDecoder().decode(Header.self, from: Data(form.header))
        else { throw .malformed }
        header = fields
        payload = form.payload
        signature = form.signature
        signedBytes = form.signedBytes
    }

    /// The `iss` that the token claims: only for choosing the keys.
    var claimedIssuer: String? {
        struct Claim: Decodable { let iss: String }
        return try? JSONDecoder().decode(Claim.self, from: Data(payload)).iss
    }

    /// The claims, once the signature was verified by the key that `kid` names; the algorithm is the key's, never the token's choice
    /// (RFC 8725 §3.1).
    /// - Parameters:
    ///   - types: Values of `typ` that are accepted, in lower case; `nil` stands for an absent one.
    ///   - algorithms: Those that are accepted at all.
    ///   - acceptsUnnamedKey: True: a token without `kid` is of the only key, where there is but one.
    func verified<Claims: Decodable>(
        as _: Claims.Type, types: Set<String?>, keys: JSONWebKeySet, algorithms: Set<JWSAlgorithm> = [.es256, .rs256],
        acceptsUnnamedKey: Bool = false
    ) throws(TokenRejection) -> Claims {
        guard header.crit == nil, types.contains(header.typ?.lowercased()) else { throw .wrongType }
        let only = acceptsUnnamedKey && header.kid == nil && keys.keys.count == 1 ? keys.keys[0] : nil
        guard let key = header.kid.flatMap(keys.key) ?? only else { throw .unknownKey }
        guard let algorithm = JWSAlgorithm(rawValue: header.alg), algorithms.contains(algorithm), key.serves(algorithm) else {
            throw .wrongAlgorithm
        }
        guard key.isValid(signature, for: signedBytes, by: algorithm) else { throw .invalidSignature }
        guard let claims = try? JSONDecoder().decode(Claims.self, from: Data(payload)) else { throw .malformed }
        return claims
    }
}
