internal import Cryptography
internal import Identifiers

/// What proves that a callback belongs to its request: the PKCE verifier (RFC 7636) and the nonce of the `id_token`.
///
/// Both follow from the `state` and a key of this deployment. The `state` itself is stored as a digest only, so nothing that is stored tells them. The key may change
/// while a person is at the provider: a `state` ends with a mark of the key that it was made with.
struct SignInProofs: Sendable {
    private static let markLength = 6

    private let keys: SymmetricKeyRing

    init(keys: SymmetricKeyRing) { self.keys = keys }

    /// A fresh state, marked by the current key.
    func state(from random: any RandomSource) -> RelayHandle {
        let fresh = RelayHandle.random(from: random)
        return RelayHandle(fresh.text + Self.mark(fresh.text, keys.current))
    }

    /// 43 characters, 256 bits (RFC 7636 §4.1).
    func verifier(_ state: RelayHandle) -> String { derived("pkce", state) }

    func nonce(_ state: RelayHandle) -> String { derived("nonce", state) }

    /// `S256`: the digest of the verifier.
    func challenge(_ state: RelayHandle) -> String { Base64.url.encode(SHA256.hash(verifier(state))) }

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
