package import Cryptography
package import Faults
package import Identifiers

/// Keeps the tokens of MVPDs unreadable in the store. A token that an older key sealed opens, and is sealed with the current one when it is kept
/// again.
package struct TokenSeal: Sendable {
    private let keys: SymmetricKeyRing

    package init(keys: SymmetricKeyRing) { self.keys = keys }

    /// - Parameter session: The session of the token; it opens for no other.
    /// - Throws: `internal`.
    package func close(_ token: Secret<some Any>, of session: SessionID) throws(Fault) -> [UInt8] {
        try close(token, context: Array(session.text.utf8))
    }

    /// The same for a logout that is under way.
    package func close(_ token: Secret<some Any>, of logout: SecretDigest) throws(Fault) -> [UInt8] { try close(token, context: logout.bytes) }

    private func close(_ token: Secret<some Any>, context: [UInt8]) throws(Fault) -> [UInt8] {
        do {
            return try AESGCM.seal(Array(token.text.utf8), key: keys.current, context: context)
        } catch {
            throw Fault(.internal, "An internal fault occurred.", cause: error)
        }
    }

    /// - Returns: `nil` when none of the keys sealed it, or it was sealed for another session.
    package func open<Subject>(_ sealed: [UInt8], of session: SessionID, as _: Secret<Subject>.Type) -> Secret<Subject>? {
        open(sealed, context: Array(session.text.utf8))
    }

    package func open<Subject>(_ sealed: [UInt8], of logout: SecretDigest, as _: Secret<Subject>.Type) -> Secret<Subject>? {
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
package final class OAuthKeys: Sendable {
    package let seal: TokenSeal
    package let proofs: SignInProofs
    private let sealing: SymmetricKeyRing
    private let proving: SymmetricKeyRing

    /// - Parameter older: Keys from before, newest first.
    package init(_ key: SymmetricKey, older: [SymmetricKey] = []) throws(CryptographyError) {
        sealing = SymmetricKeyRing(current: try Self.derived(Self.tokens, key), older: try Self.derived(Self.tokens, older))
        proving = SymmetricKeyRing(current: try Self.derived(Self.signIns, key), older: try Self.derived(Self.signIns, older))
        seal = TokenSeal(keys: sealing)
        proofs = SignInProofs(keys: proving)
    }

    package func adopt(_ key: SymmetricKey, older: [SymmetricKey]) throws(CryptographyError) {
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

/// Proves that a callback belongs to its request: the PKCE verifier (RFC 7636) and the nonce of the `id_token`.
///
/// Both follow from the `state` and a key of this deployment. The `state` itself is stored as a digest only, so nothing that is stored tells them.
/// The key may change while a person is at the provider: a `state` ends with a mark of the key that it was made with.
package struct SignInProofs: Sendable {
    private static let markLength = 6

    private let keys: SymmetricKeyRing

    package init(keys: SymmetricKeyRing) { self.keys = keys }

    /// A fresh state, marked by the current key.
    package func state(from random: any RandomSource) -> RelayHandle {
        let fresh = RelayHandle.random(from: random)
        return RelayHandle(fresh.text + Self.mark(fresh.text, keys.current))
    }

    /// 43 characters, 256 bits (RFC 7636 §4.1).
    package func verifier(_ state: RelayHandle) -> String { derived("pkce", state) }

    package func nonce(_ state: RelayHandle) -> String { derived("nonce", state) }

    /// `S256`: the digest of the verifier.
    package func challenge(_ state: RelayHandle) -> String { Base64.url.encode(SHA256.hash(verifier(state))) }

    private func derived(_ purpose: String, _ state: RelayHandle) -> String {
        Base64.url.encode(HMACSHA256.authenticate(Array(purpose.utf8) + [0] + Array(state.text.utf8), key: key(of: state)))
    }

    /// A state without a mark that anybody knows is of the current key, as those of earlier releases are.
    private func key(of state: RelayHandle) -> SymmetricKey {
        let all = keys.all
        guard all.count > 1 else { return all[0] }
        let (fresh, mark) = (String(state.text.dropLast(Self.markLength)), String(state.text.suffix(Self.markLength)))
        return all.first { Self.mark(fresh, $0) == mark } ?? all[0]
    }

    private static func mark(_ fresh: String, _ key: SymmetricKey) -> String {
        String(Base64.url.encode(HMACSHA256.authenticate(Array("mark".utf8) + [0] + Array(fresh.utf8), key: key)).prefix(markLength))
    }
}
