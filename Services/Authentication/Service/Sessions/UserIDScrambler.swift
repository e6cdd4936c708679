internal import Cryptography

/// Turns the MVPD's id of a person into the one that programmers see (rest-v1 §7).
struct UserIDScrambler: Sendable {
    private let key: SymmetricKey

    init(key: SymmetricKey) { self.key = key }

    /// Lower-case hex of HMAC-SHA-256(key, mvpd ‖ 0x00 ‖ upstream id): the same at every requestor, and for ever.
    func scramble(_ upstreamUserID: String, mvpd: MvpdID) -> String {
        let input = Array(mvpd.text.utf8) + [0] + Array(upstreamUserID.utf8)
        return Hex.encode(HMACSHA256.authenticate(input, key: key))
    }
}
