internal import Cryptography
internal import FoundationEssentials

/// A compact JWS with a P-256 key that Apple knows (apple §1.3, §2.4).
enum ES256Token {
    private struct Header: Encodable {
        let alg = "ES256"
        let kid: String
        let typ: String?
    }

    /// - Parameters:
    ///   - keyID: As Apple names the key.
    ///   - type: `typ` of the header; `nil`: none.
    /// - Throws: `CryptographyError` of the key, or an encoder's error.
    static func sign(_ claims: some Encodable, keyID: String, type: String?, key: P256PrivateKey) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let header = [UInt8](try encoder.encode(Header(kid: keyID, typ: type)))
        let input = Base64.url.encode(header) + "." + Base64.url.encode([UInt8](try encoder.encode(claims)))
        // P256PrivateKey signs in JWS form already: r and s, 64 bytes.
        return input + "." + Base64.url.encode(try key.sign(Array(input.utf8)))
    }
}
