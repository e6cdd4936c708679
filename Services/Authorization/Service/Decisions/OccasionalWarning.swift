internal import Clocks
internal import Synchronization

/// Lets a warning through once a minute: what a client does wrong it does with every call.
final class OccasionalWarning: Sendable {
    private static let pause: Duration = .seconds(60)

    private let next = Mutex(Timestamp(milliseconds: 0))

    /// True at most once a minute; a clock that is set back does not silence it for longer.
    func isDue(now: Timestamp) -> Bool {
        next.withLock { next in
            guard now >= next || next - now > Self.pause else { return false }
            next = now + Self.pause
            return true
        }
    }
}
