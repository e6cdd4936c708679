/// How many things there are that end by themselves, in a fixed amount of memory. They are counted by the hour in which they end, so that each counts
/// for at most an hour longer than it lives.
public struct ExpiryCounts: Sendable {
    /// Hours that are told apart: the longest life is one less.
    public static let hours = 12
    private static let hour: Int64 = 3600

    private var counts = InlineArray<12, UInt32>(repeating: 0)
    /// The hour of the first count, since the clock's beginning.
    private var first: Int64 = 0

    public init() {}

    /// From this second on nothing is counted.
    public private(set) var end: Int64 = 0

    /// Counts one more, unless there are as many as there may be.
    /// - Parameters:
    ///   - end: When it ends, in seconds of the same clock as `now`; what lies further than 11 hours ahead counts as ending then.
    ///   - limit: How many there may be at one time.
    /// - Returns: False when there are as many.
    public mutating func add(endingAt end: Int64, limit: Int, now: Int64) -> Bool {
        advance(to: now / Self.hour)
        guard total < limit else { return false }
        let index = min(max(0, end / Self.hour - first), Int64(Self.hours - 1))
        counts[Int(index)] &+= 1
        self.end = max(self.end, (first + index + 1) * Self.hour)
        return true
    }

    /// Takes back one that was counted as ending then, and has ended before; what is counted no longer is left alone.
    public mutating func remove(endingAt end: Int64, now: Int64) {
        advance(to: now / Self.hour)
        let hour = end / Self.hour - first
        guard hour >= 0 else { return }
        let index = Int(min(hour, Int64(Self.hours - 1)))
        if counts[index] > 0 { counts[index] -= 1 }
    }

    private var total: Int {
        var sum = 0
        for index in 0..<Self.hours { sum += Int(counts[index]) }
        return sum
    }

    private mutating func advance(to hour: Int64) {
        let passed = hour - first
        guard passed > 0 else { return }
        for index in 0..<Self.hours {
            let source = Int64(index) + passed
            counts[index] = source < Int64(Self.hours) ? counts[Int(source)] : 0
        }
        first = hour
    }
}
