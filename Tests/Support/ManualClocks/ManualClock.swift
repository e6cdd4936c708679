public import Clocks
internal import Synchronization

/// A clock that stands still until it is told otherwise.
public final class ManualClock: WallClock {
    private let moment: Mutex<Timestamp>

    /// - Parameter start: The first time of the clock; by default 2031-03-04T10:00:00Z.
    public init(_ start: Timestamp = Timestamp(seconds: 1_930_384_800)) { moment = Mutex(start) }

    public func now() -> Timestamp { moment.withLock { $0 } }

    public func advance(by span: Duration) {
        moment.withLock { $0 = $0 + span }
    }

    public func set(_ time: Timestamp) {
        moment.withLock { $0 = time }
    }
}
