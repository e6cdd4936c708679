internal import Synchronization

/// The pending faults of each endpoint, first in first out.
final class AppleFaults: Sendable {
    private let queues = Mutex<[AppleEndpoint: [AppleFault]]>([:])

    func append(_ faults: [AppleFault], for endpoint: AppleEndpoint) {
        queues.withLock { $0[endpoint, default: []] += faults }
    }

    func reset(_ endpoint: AppleEndpoint? = nil) {
        queues.withLock { queues in
            if let endpoint { queues[endpoint] = nil } else { queues = [:] }
        }
    }

    /// The fault for the next call; counts that call.
    func take(_ endpoint: AppleEndpoint) -> AppleFault? {
        queues.withLock { queues in
            guard let fault = queues[endpoint]?.first else { return nil }
            let times = fault.times ?? 1
            if times == 1 {
                queues[endpoint]?.removeFirst()
            } else if times > 1 {
                queues[endpoint]?[0].times = times - 1
            }
            return fault
        }
    }

    func waiting() -> [String: [AppleFault]] {
        queues.withLock { queues in Dictionary(uniqueKeysWithValues: queues.filter { !$0.value.isEmpty }.map { ($0.key.rawValue, $0.value) }) }
    }
}
