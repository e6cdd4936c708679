internal import Synchronization

/// The faults that wait for calls.
final class UpstreamFaults: Sendable {
    static let limit = 1000

    struct Waiting: Sendable, Codable, Equatable {
        let operations: [UpstreamOperation]
        var fault: UpstreamFault
    }

    private let queue = Mutex<[Waiting]>([])

    func append(_ faults: [Waiting]) throws(SettingsFault) {
        try queue.withLock { queue throws(SettingsFault) in
            guard queue.count + faults.count <= Self.limit else {
                throw SettingsFault(key: "faults", problem: "would be more than \(Self.limit)")
            }
            queue += faults
        }
    }

    /// Forgets the faults of one operation, or all.
    func reset(_ operation: UpstreamOperation? = nil) {
        queue.withLock { queue in queue.removeAll { waiting in operation.map { waiting.operations == [$0] } ?? true } }
    }

    var waiting: [Waiting] { queue.withLock { $0 } }

    /// The first fault that fits the call; counts that call.
    func take(_ call: UpstreamCall) -> UpstreamFault? {
        queue.withLock { queue in
            guard let index = queue.firstIndex(where: { $0.operations.contains(call.operation) && $0.fault.fits(call) }) else { return nil }
            if let after = queue[index].fault.after, after > 0 {
                queue[index].fault.after = after - 1
                return nil
            }
            let fault = queue[index].fault
            let times = fault.times ?? 1
            if times == 1 {
                queue.remove(at: index)
            } else if times > 1 {
                queue[index].fault.times = times - 1
            }
            return fault
        }
    }
}
