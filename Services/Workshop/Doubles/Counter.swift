internal import Synchronization

/// Counts from 1, for ids that are the same in each run.
final class Counter: Sendable {
    private let value = Atomic<UInt64>(0)

    init() {}

    func next() -> UInt64 { value.add(1, ordering: .relaxed).newValue }

    var count: UInt64 { value.load(ordering: .relaxed) }
}
