internal import Synchronization

/// The disturbance of each decision point.
final class Disturbances: Sendable {
    private let current = Mutex<[String: Disturbance]>([:])

    func set(_ disturbance: Disturbance, for mvpd: String) { current.withLock { $0[mvpd] = disturbance } }

    func reset() { current.withLock { $0 = [:] } }

    /// The disturbance for the next request; counts that request.
    func take(for mvpd: String) -> Disturbance {
        current.withLock { current in
            guard var disturbance = current[mvpd] else { return Disturbance() }
            let taken = disturbance
            if let remaining = disturbance.remaining {
                disturbance.remaining = remaining - 1
                current[mvpd] = remaining > 1 ? disturbance : nil
            }
            return taken
        }
    }
}
