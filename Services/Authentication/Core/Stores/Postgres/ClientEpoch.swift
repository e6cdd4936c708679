internal import Faults
internal import Storage
internal import Synchronization

/// Tells when a copy on another host has revoked a client: a row of the store counts that, and is asked four times a second. Memory may answer only
/// while the last answer is fresh; whoever revokes waits until it is with every copy.
final class ClientEpoch: StoreChanges {
    static let advance: Statement = "UPDATE epoch SET value = value + 1 WHERE name = 'client'"
    private static let current: Statement = "SELECT value FROM epoch WHERE name = 'client'"
    private static let interval: Duration = .milliseconds(250)
    /// An answer counts for this long, from the moment of the question.
    private static let trust: Duration = .seconds(1)

    private let store: Store
    private let start = ContinuousClock.now
    private let count = Atomic<UInt64>(0)
    /// Nanoseconds from the start.
    private let freshUntil = Atomic<Int64>(0)
    private let last = Atomic<Int64>(-1)

    /// Asks until nobody needs it any more.
    static func watching(_ store: Store) -> ClientEpoch {
        let epoch = ClientEpoch(store)
        Task { [weak epoch] in
            while let epoch {
                await epoch.ask()
                try? await Task.sleep(for: interval)
            }
        }
        return epoch
    }

    /// To be called after a revocation: until the memory of no copy counts any more that has not heard of it.
    static func heardByAll() async { try? await Task.sleep(for: trust + interval) }

    private init(_ store: Store) { self.store = store }

    /// Without a fresh answer another one each time.
    var generation: UInt64 {
        elapsed < freshUntil.load(ordering: .acquiring) ? count.load(ordering: .acquiring) : count.add(1, ordering: .acquiringAndReleasing).newValue
    }

    /// Nobody can tell: what a commit wrote is read again.
    var isLastCommitOwn: Bool { false }

    private func ask() async {
        let asked = elapsed
        // Without an answer memory soon counts no more.
        guard let value: Int64 = try? await store.value(Self.current) else { return }
        if last.exchange(value, ordering: .acquiringAndReleasing) != value { count.add(1, ordering: .acquiringAndReleasing) }
        freshUntil.store(asked + Self.nanoseconds(Self.trust), ordering: .releasing)
    }

    private var elapsed: Int64 { Self.nanoseconds(start.duration(to: .now)) }

    private static func nanoseconds(_ duration: Duration) -> Int64 {
        duration.components.seconds * 1_000_000_000 + duration.components.attoseconds / 1_000_000_000
    }
}
