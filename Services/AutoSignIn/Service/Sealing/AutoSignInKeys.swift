internal import Cryptography

/// The service's keys, all out of the one that the operator keeps.
public struct AutoSignInKeys: Sendable {
    private let root: SymmetricKey

    /// - Parameter hex: 64 hex digits; white space around them is allowed.
    /// - Throws: When it is something else.
    public init(hex: String) throws {
        guard let bytes = Hex.decode(hex.filter { !$0.isWhitespace }) else { throw CryptographyError.malformed("key: not hex digits") }
        root = try SymmetricKey(bytes: bytes)
    }

    func key(for purpose: SealPurpose) -> SymmetricKey {
        let bytes = HMACSHA256.authenticate(Array(purpose.name.utf8), key: root)
        // HMAC-SHA-256 has as many bytes as a key.
        guard let key = try? SymmetricKey(bytes: bytes) else { preconditionFailure("HMAC-SHA-256 has 32 bytes") }
        return key
    }

    func seal(for purpose: SealPurpose) -> TokenSeal { TokenSeal(key: key(for: purpose)) }
}
