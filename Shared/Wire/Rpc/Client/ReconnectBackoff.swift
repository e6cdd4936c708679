/// A caller waits this long before the next attempt to connect: doubles with each failure, with jitter so that many callers do not return at once.
public struct ReconnectBackoff: Hashable, Sendable {
    /// Before the first new attempt, at most.
    public var first: Duration
    /// Before any later attempt, at most.
    public var longest: Duration

    public init(first: Duration = .milliseconds(50), longest: Duration = .milliseconds(500)) {
        self.first = first
        self.longest = longest
    }

    /// - Parameters:
    ///   - failures: Attempts that failed one after another, at least 1.
    ///   - random: 0 to 1, the jitter: the wait is between half and the whole of its bound.
    func delay(afterFailures failures: Int, random: Double) -> Duration {
        let doublings = min(max(failures - 1, 0), 16)
        let bound = min(longest, first * (1 << doublings))
        return bound * (0.5 + random / 2)
    }
}
