import Clocks
import Synchronization

final class SettableClock: WallClock {
    private let moment = Mutex(Timestamp(seconds: 1_900_000_000))

    func now() -> Timestamp { moment.withLock { $0 } }
    func advance(by span: Duration) { moment.withLock { $0 = $0 + span } }
}
