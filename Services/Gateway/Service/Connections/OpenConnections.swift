internal import CoreMetrics
internal import Synchronization

/// Counts the connections of all listeners and says when there are enough.
final class OpenConnections: Sendable {
    private let maximum: Int
    private let count = Atomic(0)
    private let open = Gauge(label: "boxoffice_gateway_connections")
    private let refused = Counter(label: "boxoffice_gateway_connections_refused_total")

    init(maximum: Int) { self.maximum = maximum }

    /// - Returns: False when there is no room; nothing is counted then.
    func enter() -> Bool {
        let now = count.add(1, ordering: .relaxed).newValue
        guard now <= maximum else {
            count.subtract(1, ordering: .relaxed)
            refused.increment()
            return false
        }
        open.record(now)
        return true
    }

    func leave() { open.record(count.subtract(1, ordering: .relaxed).newValue) }
}
