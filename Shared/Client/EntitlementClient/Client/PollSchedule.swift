internal import Octets

/// When to poll for a login next (client-sdk §4.3): at an interval, less often while the servers fail, and not after the code has expired.
struct PollSchedule: Sendable, Equatable {
    /// The longest pause, while the servers fail.
    static let longestPause: Duration = .seconds(30)

    private let interval: Duration
    private let end: Duration
    private var pause: Duration

    /// - Parameters:
    ///   - interval: Between two polls that are answered.
    ///   - start: When the code was made, by the clock's uptime: a device with a wrong clock waits as long as any.
    ///   - lifetime: How long the code is valid.
    init(interval: Duration, start: Duration, lifetime: Duration) {
        self.interval = interval
        pause = interval
        end = start + lifetime
    }

    /// - Returns: How long to wait now; `nil` when the code has expired.
    func next(at uptime: Duration) -> Duration? {
        guard uptime < end else { return nil }
        return min(pause, end - uptime)
    }

    /// True when the code can still be used.
    func isGood(at uptime: Duration) -> Bool { uptime < end }

    /// The servers answered that there is no session yet.
    mutating func answered() { pause = interval }

    /// The servers gave another answer, or none.
    mutating func disturbed() { pause = min(max(pause, .seconds(1)) * 2, max(Self.longestPause, interval)) }
}
