internal import Cryptography
internal import Faults

/// Keeps the tokens of MVPDs unreadable in the store.
struct TokenSeal: Sendable {
    private let key: SymmetricKey

    init(key: SymmetricKey) { self.key = key }

    /// - Parameter session: Whose token it is; it opens for no other.
    /// - Throws: `internal`.
    func close(_ token: Secret<some Any>, of session: SessionID) throws(Fault) -> [UInt8] {
        do {
            return try AESGCM.seal(Array(token.text.utf8), key: key, context: Array(session.text.utf8))
        } catch {
            throw Fault(.internal, "An internal fault occurred.", cause: error)
        }
    }

    /// - Returns: `nil` when it was sealed with another key, or for another session.
    func open<Subject>(_ sealed: [UInt8], of session: SessionID, as _: Secret<Subject>.Type) -> Secret<Subject>? {
        guard let bytes = try? AESGCM.open(sealed, key: key, context: Array(session.text.utf8)) else { return nil }
        return String(validating: bytes, as: UTF8.self).map(Secret.init)
    }
}

/// Two keys out of the one that the operator keeps, so that no key serves two purposes.
struct OAuthKeys: Sendable {
    let seal: TokenSeal
    let proofs: SignInProofs

    init(_ key: SymmetricKey) throws(CryptographyError) {
        seal = TokenSeal(key: try Self.derived("boxoffice oauth tokens", key))
        proofs = SignInProofs(key: try Self.derived("boxoffice oauth proofs", key))
    }

    private static func derived(_ purpose: String, _ key: SymmetricKey) throws(CryptographyError) -> SymmetricKey {
        try SymmetricKey(bytes: HMACSHA256.authenticate(Array(purpose.utf8), key: key))
    }
}
