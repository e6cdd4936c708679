/// This many signatures may wait, as a pure state machine over time.
///
/// The room is as many as begin within the longest wait, by the duration of the latest ones. A least number may wait however long that takes, so that
/// a few callers are never refused because a machine is slow. When even those places are taken, there is a crowd of callers. Then waiting only delays
/// each caller, while others are refused anyway. So fewer may wait until the crowd is gone (the idea of CoDel: Nichols, Jacobson, ACM Queue 10/5,
/// 2012).
package struct SigningRoom {
    /// The crowd is gone when nothing was refused for this time; in nanoseconds.
    package static let quiet: UInt64 = 1_000_000_000
    /// After this time it is checked whether the crowd is still there, because it may refuse only a few callers; in nanoseconds.
    package static let longestCrowding: UInt64 = 10_000_000_000
    /// In a crowd, `leastRoom` is divided by this number.
    static let crowdedPart = 8

    private let limit: Int
    private let longestWait: Double
    private let leastRoom: Int
    private let threads: Int
    /// The duration of a signature, in nanoseconds: a moving average. 0: not known yet.
    private var usualTime = 0.0
    /// Since when there are more than there is room for, and when one was refused last; steady time in nanoseconds.
    private var crowd: (since: UInt64, refused: UInt64)?

    /// - Parameters:
    ///   - limit: The most that may wait, 1 or more.
    ///   - longestWait: Above 0.
    ///   - leastRoom: How many may wait however long it takes, unless there is a crowd.
    ///   - threads: That sign, 1 or more.
    package init(limit: Int, longestWait: Duration, leastRoom: Int, threads: Int) {
        self.limit = limit
        self.longestWait = Double(longestWait.components.seconds) * 1e9 + Double(longestWait.components.attoseconds) / 1e9
        self.leastRoom = leastRoom
        self.threads = threads
    }

    /// - Parameters:
    ///   - waiting: Signatures that wait already.
    ///   - now: Steady time in nanoseconds.
    /// - Returns: True when one more may.
    package mutating func admits(waiting: Int, at now: UInt64) -> Bool {
        if let crowd, now >= crowd.refused + Self.quiet || now >= crowd.since + Self.longestCrowding { self.crowd = nil }
        let inTime = usualTime > 0 ? longestWait / usualTime * Double(threads) : .infinity
        let least = crowd == nil ? leastRoom : max(1, leastRoom / Self.crowdedPart)
        if Double(waiting) < min(Double(limit), max(Double(least), inTime)) { return true }
        crowd = (crowd?.since ?? now, now)
        return false
    }

    /// Notes a number of signatures that one thread made; the latest 16 or so count most.
    /// - Parameter each: Nanoseconds.
    package mutating func note(each: Double, count: Int) {
        let weight = min(1, Double(count) / 16)
        usualTime = usualTime > 0 ? usualTime + (each - usualTime) * weight : each
    }
}
