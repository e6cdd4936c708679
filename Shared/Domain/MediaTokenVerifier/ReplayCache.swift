internal import Octets
internal import Clocks
internal import Cryptography
internal import Synchronization

/// Remembers tokens that passed until they expire, so that each passes once (rest-v1 §7).
///
/// Keyed by the signed bytes, not by the signature: from an ECDSA signature a second valid one can be made without the key.
public final class ReplayCache: Sendable {
    private struct State {
        var ends: [[UInt8]: Timestamp] = [:]
        var nextPruning: Int
    }

    private let limit: Int
    private let state: Mutex<State>

    /// - Parameter limit: Tokens remembered at once; when that many are live, further ones are refused rather than let through unchecked.
    public init(limit: Int = 100_000) {
        self.limit = limit
        state = Mutex(State(nextPruning: min(limit, 1024)))
    }

    /// - Returns: False when the bytes were claimed before, or no room is left.
    func claim(_ signedBytes: [UInt8], until end: Timestamp, now: Timestamp) -> Bool {
        let digest = SHA256.hash(signedBytes)
        return state.withLock { state in
            if let known = state.ends[digest], now < known { return false }
            if state.ends.count >= state.nextPruning {
                state.ends = state.ends.filter { now < $0.value }
                state.nextPruning = min(limit, max(1024, state.ends.count * 2))
            }
            guard state.ends.count < limit else { return false }
            state.ends[digest] = end
            return true
        }
    }
}
