internal import Cryptography
internal import Faults
internal import Identifiers

/// Keeps the tokens of MVPDs unreadable in the store. What an older key sealed opens, and is sealed with the current one when it is kept again.
struct TokenSeal: Sendable {
    private let keys: SymmetricKeyRing

    init(keys: SymmetricKeyRing) { self.keys = keys }

    /// - Parameter session: Whose token it is; it opens for no other.
    /// - Throws: `internal`.
    func close(_ token: Secret<some Any>, of session: SessionID) throws(Fault) -> [UInt8] { try close(token, context: Array(session.text.utf8)) }

    /// The same for a logout that is under way.
    func close(_ token: Secret<some Any>, of logout: SecretDigest) throws(Fault) -> [UInt8] { try close(token, context: logout.bytes) }

    private func close(_ token: Secret<some Any>, context: [UInt8]) throws(Fault) -> [UInt8] {
        do {
            return try AESGCM.seal(Array(token.text.utf8), key: keys.current, context: context)
        } catch {
            throw Fault(.internal, "An internal fault occurred.", cause: error)
        }
    }

    /// - Returns: `nil` when none of the keys sealed it, or it was sealed for another session.
    func open<Subject>(_ sealed: [UInt8], of session: SessionID, as _: Secret<Subject>.Type) -> Secret<Subject>? {
        open(sealed, context: Array(session.text.utf8))
    }

    func open<Subject>(_ sealed: [UInt8], of logout: SecretDigest, as _: Secret<Subject>.Type) -> Secret<Subject>? {
        open(sealed, context: logout.bytes)
    }

    private func open<Subject>(_ sealed: [UInt8], context: [UInt8]) -> Secret<Subject>? {
        for key in keys.all {
            guard let bytes = try? AESGCM.open(sealed, key: key, context: context) else { continue }
            return String(validating: bytes, as: UTF8.self).map(Secret.init)
        }
        return nil
    }
}

/// Two keys out of the one that the operator keeps, so that no key serves two purposes; both change with it.
final class OAuthKeys: Sendable {
    let seal: TokenSeal
    let proofs: SignInProofs
    private let sealing: SymmetricKeyRing
    private let proving: SymmetricKeyRing

    /// - Parameter older: Keys from before, newest first.
    init(_ key: SymmetricKey, older: [SymmetricKey] = []) throws(CryptographyError) {
        sealing = SymmetricKeyRing(current: try Self.derived(Self.tokens, key), older: try Self.derived(Self.tokens, older))
        proving = SymmetricKeyRing(current: try Self.derived(Self.signIns, key), older: try Self.derived(Self.signIns, older))
        seal = TokenSeal(keys: sealing)
        proofs = SignInProofs(keys: proving)
    }

    func adopt(_ key: SymmetricKey, older: [SymmetricKey]) throws(CryptographyError) {
        let (tokens, signIns) = (try Self.derived(Self.tokens, key), try Self.derived(Self.signIns, key))
        let (olderTokens, olderSignIns) = (try Self.derived(Self.tokens, older), try Self.derived(Self.signIns, older))
        sealing.adopt(current: tokens, older: olderTokens)
        proving.adopt(current: signIns, older: olderSignIns)
    }

    private static let tokens = "boxoffice oauth tokens"
    private static let signIns = "boxoffice oauth proofs"

    private static func derived(_ purpose: String, _ keys: [SymmetricKey]) throws(CryptographyError) -> [SymmetricKey] {
        var all: [SymmetricKey] = []
        for key in keys { all.append(try derived(purpose, key)) }
        return all
    }

    private static func derived(_ purpose: String, _ key: SymmetricKey) throws(CryptographyError) -> SymmetricKey {
        try SymmetricKey(bytes: HMACSHA256.authenticate(Array(purpose.utf8), key: key))
    }
}
