internal import Clocks
internal import Synchronization

/// A clock that tests may put ahead or back, to act a provider whose clock is wrong.
final class AdjustableClock: WallClock {
    private let base: any WallClock
    private let offset = Mutex(Duration.zero)

    init(_ base: any WallClock) { self.base = base }

    func now() -> Timestamp { base.now() + offset.withLock { $0 } }

    func shift(by span: Duration) { offset.withLock { $0 = span } }
}
