@testable import GatewayEdge
internal import Synchronization

/// A steady clock that a test moves.
final class SetClock: MonotonicClock {
    private let time = Mutex(Duration.zero)

    func elapsed() -> Duration { time.withLock { $0 } }
    func set(_ elapsed: Duration) { time.withLock { $0 = elapsed } }
    func advance(by span: Duration) { time.withLock { $0 += span } }
}
