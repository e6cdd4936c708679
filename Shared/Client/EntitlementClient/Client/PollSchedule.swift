/// When to look for a login next (client-sdk §4.3): at an interval, more seldom while the servers are disturbed, and not after the code's end.
struct PollSchedule: Sendable, Equatable {
    /// The longest pause, in trouble.
    static let longestPause: Duration = .seconds(30)

    private let interval: Duration
    private let end: Duration
    private var pause: Duration

    /// - Parameters:
    ///   - interval: Between two looks that are answered.
    ///   - start: When the code was made, by the clock's uptime: a device with a wrong clock waits as long as any.
    ///   - lifetime: For how long the code is good.
    init(interval: Duration, start: Duration, lifetime: Duration) {
        self.interval = interval
        pause = interval
        end = start + lifetime
    }

    /// - Returns: How long to wait now; `nil` when the code is over.
    func next(at uptime: Duration) -> Duration? {
        guard uptime < end else { return nil }
        return min(pause, end - uptime)
    }

    /// Whether the code can still be used.
    func isGood(at uptime: Duration) -> Bool { uptime < end }

    /// The servers said that there is no session yet.
    mutating func answered() { pause = interval }

    /// The servers said something else, or nothing.
    mutating func disturbed() { pause = min(max(pause, .seconds(1)) * 2, max(Self.longestPause, interval)) }
}
