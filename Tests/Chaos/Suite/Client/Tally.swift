import Synchronization

/// Every request that was made, in the order in which they ended.
final class Tally: Sendable {
    private let samples = Mutex<[Sample]>([])
    private let open = Atomic(0)

    /// Requests that wait for their answer.
    var underWay: Int { open.load(ordering: .relaxed) }

    func begin() { open.add(1, ordering: .relaxed) }

    func end(_ sample: Sample) {
        open.subtract(1, ordering: .relaxed)
        samples.withLock { $0.append(sample) }
    }

    /// Takes all samples out.
    func take() -> [Sample] {
        samples.withLock { samples in
            defer { samples = [] }
            return samples
        }
    }

    /// True when a request of the kind that began after the moment was answered as it should be.
    func hasSuccess(of operation: Operation, after moment: ContinuousClock.Instant) -> Bool {
        samples.withLock { $0.reversed().contains { $0.operation == operation && $0.isDone && $0.begun >= moment } }
    }
}
