internal import Synchronization

/// Slows down whoever guesses link codes of a programmer's people, wherever they come from: six digits are few (rest-v2 §2.14). One is looked up at a time, and after
/// a wrong one none for a second.
final class LinkPace: Sendable {
    static let pause: Int64 = 1_000_000_000

    private let clock: any MonotonicClock
    /// From when on the next may be looked up; at most as many entries as there are programmers.
    private let ends = Mutex<[OctetText: Int64]>([:])

    init(clock: any MonotonicClock) { self.clock = clock }

    /// - Parameter programmer: One of the catalogue.
    /// - Returns: False: not now. Otherwise `end` has to follow.
    func begin(_ programmer: String) -> Bool {
        let now = clock.nanoseconds()
        return ends.withLock { ends in
            guard ends[programmer] ?? .min <= now else { return false }
            ends[OctetText(programmer)] = .max
            return true
        }
    }

    /// - Parameter isWrong: The service knows no such code.
    func end(_ programmer: String, isWrong: Bool) {
        let next = isWrong ? clock.nanoseconds() + Self.pause : nil
        ends.withLock { $0[OctetText(programmer)] = next }
    }
}
