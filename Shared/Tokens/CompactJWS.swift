internal import Cryptography
internal import FoundationEssentials

/// Writes a compact JWS (RFC 7515 §7.1).
enum CompactJWS {
    /// - Throws: `CryptographyError` of the key, or an encoder's error.
    static func sign(_ claims: some Encodable, type: String, key: SigningKey) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let header = UnverifiedJWS.Header(alg: JWSAlgorithm.es256.rawValue, kid: key.identifier, typ: type)
        let input = Base64.url.encode(Array(try encoder.encode(header))) + "." + Base64.url.encode(Array(try encoder.encode(claims)))
        return input + "." + Base64.url.encode(try key.privateKey.sign(Array(input.utf8)))
    }
}
