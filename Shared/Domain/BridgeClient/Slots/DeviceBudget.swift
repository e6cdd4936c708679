public import Clocks

/// Mirrors the bucket that upstream keeps for a client address, so that what can wait does not take what a person waits for (bridge §5.4).
public struct DeviceBudget: Sendable {
    private static let longestPause: Duration = .seconds(600)

    private let perSecond: Double
    private let burst: Double
    private var level: Double
    private var last: Timestamp
    private var pausedUntil: Timestamp?

    /// - Parameters:
    ///   - perSecond: The calls that a second gives back; above 0.
    ///   - burst: Calls at once; at least 1.
    public init(perSecond: Int, burst: Int, _ now: Timestamp) {
        self.perSecond = Double(max(perSecond, 1))
        self.burst = Double(max(burst, 1))
        level = self.burst
        last = now
    }

    /// Takes one call.
    /// - Returns: `nil` when it may go out, else how long to wait for it.
    public mutating func take(_ now: Timestamp) -> Duration? {
        // A clock that was set back gives nothing, and takes nothing.
        if now > last { level = min(burst, level + Double((now - last).wholeMilliseconds) / 1000 * perSecond) }
        last = now
        if let pausedUntil, now < pausedUntil, pausedUntil - now <= Self.longestPause { return pausedUntil - now }
        pausedUntil = nil
        guard level >= 1 else { return .milliseconds(Int64(((1 - level) / perSecond * 1000).rounded(.up))) }
        level -= 1
        return nil
    }

    /// Upstream answered 429: nothing goes out for that long.
    public mutating func throttled(_ pause: Duration, _ now: Timestamp) {
        pausedUntil = now + min(pause, Self.longestPause)
        level = 0
        last = now
    }

    /// True when nothing is remembered that a new one would not know.
    public func isFull(_ now: Timestamp) -> Bool {
        guard pausedUntil.map({ now >= $0 }) ?? true else { return false }
        return level + Double(max(0, (now - last).wholeMilliseconds)) / 1000 * perSecond >= burst
    }
}
