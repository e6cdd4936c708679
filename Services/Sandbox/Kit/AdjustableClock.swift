internal import Clocks
internal import Synchronization

/// A clock that tests can set ahead or back, to simulate a provider with a wrong clock.
final class AdjustableClock: WallClock {
    private let base: any WallClock
    private let offset = Mutex(Duration.zero)

    init(_ base: any WallClock) { self.base = base }

    func now() -> Timestamp { base.now() + offset.withLock { $0 } }

    func shift(by span: Duration) { offset.withLock { $0 = span } }
}
