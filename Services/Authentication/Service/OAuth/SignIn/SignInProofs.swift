internal import Cryptography

/// What proves that a callback belongs to its request: the PKCE verifier (RFC 7636) and the nonce of the `id_token`.
///
/// Both follow from the `state` and a key of this deployment. The `state` itself is stored as a digest only, so nothing that is stored tells them.
struct SignInProofs: Sendable {
    private let key: SymmetricKey

    init(key: SymmetricKey) { self.key = key }

    /// 43 characters, 256 bits (RFC 7636 §4.1).
    func verifier(_ state: RelayHandle) -> String { derived("pkce", state) }

    func nonce(_ state: RelayHandle) -> String { derived("nonce", state) }

    /// `S256`: the digest of the verifier.
    func challenge(_ state: RelayHandle) -> String { Base64.url.encode(SHA256.hash(verifier(state))) }

    private func derived(_ purpose: String, _ state: RelayHandle) -> String {
        Base64.url.encode(HMACSHA256.authenticate(Array(purpose.utf8) + [0] + Array(state.text.utf8), key: key))
    }
}
