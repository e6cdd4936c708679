internal import Synchronization

/// How many calls each server has under way, so that one that hangs takes up no more than its share.
package final class CallsInFlight: Sendable {
    private let counts = Mutex<[OctetText: Int]>([:])

    package init() {}

    /// - Returns: `false` when as many are under way as may be.
    package func enter(_ endpoint: String, limit: Int) -> Bool {
        counts.withLock { counts in
            let count = counts[endpoint, default: 0]
            guard count < limit else { return false }
            counts[endpoint] = count + 1
            return true
        }
    }

    package func count(_ endpoint: String) -> Int { counts.withLock { $0[OctetText(endpoint)] ?? 0 } }

    package func leave(_ endpoint: String) { counts.withLock { $0[endpoint, default: 1] -= 1 } }
}
