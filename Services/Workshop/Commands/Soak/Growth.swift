/// A quantity changes over time in this way: the line of least squares through its samples.
struct Growth: Equatable, Sendable {
    struct Point: Equatable, Sendable {
        /// Since the beginning.
        let seconds: Double
        let value: Double
    }

    /// The growth by all samples, in units per hour.
    let perHour: Double
    /// The growth by the later half alone: a quantity that fills up to a bound no longer grows there.
    let latePerHour: Double
    /// The mean.
    let level: Double
    /// From the first sample to the last.
    let hours: Double

    /// - Returns: `nil` with less than eight samples, or all of one moment: no line is to be trusted then.
    init?(_ points: [Point]) {
        guard points.count >= Self.least, let whole = Self.slope(points[...]), let late = Self.slope(points[(points.count / 2)...]),
            let first = points.first, let last = points.last
        else { return nil }
        (perHour, latePerHour) = (whole * 3600, late * 3600)
        level = points.reduce(0) { $0 + $1.value } / Double(points.count)
        hours = (last.seconds - first.seconds) / 3600
    }

    static let least = 8

    /// The growth per hour, by the line through all samples or by that through the later half, whichever is less.
    var surePerHour: Double { min(perHour, latePerHour) }
    /// The same, in all.
    var sureGrowth: Double { surePerHour * hours }

    /// In units per second.
    private static func slope(_ points: ArraySlice<Point>) -> Double? {
        let count = Double(points.count)
        // About the means: the sums of squares of large numbers would lose what is looked for.
        let (time, value) = (points.reduce(0) { $0 + $1.seconds } / count, points.reduce(0) { $0 + $1.value } / count)
        let spread = points.reduce(0) { $0 + ($1.seconds - time) * ($1.seconds - time) }
        guard spread > 0 else { return nil }
        return points.reduce(0) { $0 + ($1.seconds - time) * ($1.value - value) } / spread
    }
}
