internal import Cryptography
internal import FoundationEssentials

/// Writes a compact JWS (RFC 7515 §7.1).
enum CompactJWS {
    /// - Throws: `CryptographyError` of the key, or an encoder's error.
    static func sign(_ claims: some Encodable, type: String, key: SigningKey) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return try sign(payload: Array(try encoder.encode(claims)), type: type, key: key)
    }

    /// - Parameter payload: The claims as JSON.
    static func sign(payload: [UInt8], type: String, key: SigningKey) throws(CryptographyError) -> String {
        var header = JSONObjectText()
        header.add("alg", JWSAlgorithm.es256.rawValue)
        header.add("kid", key.identifier)
        header.add("typ", type)
        let input = Base64.url.encode(header.finished()) + "." + Base64.url.encode(payload)
        return input + "." + Base64.url.encode(try key.privateKey.sign(Array(input.utf8)))
    }
}
