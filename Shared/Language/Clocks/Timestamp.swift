/// A moment as milliseconds since 1970-01-01T00:00:00Z, the resolution of the public API. Numbers of strangers become moments: what lies beyond the range is
/// its end, and no arithmetic overflows.
public struct Timestamp: Hashable, Comparable, Sendable, Codable {
    /// Milliseconds since 1970; negative before.
    public var milliseconds: Int64

    /// - Parameter milliseconds: Milliseconds since 1970.
    public init(milliseconds: Int64) { self.milliseconds = milliseconds }

    /// - Parameter seconds: Seconds since 1970.
    public init(seconds: Int64) { milliseconds = seconds.multiplied(clampedBy: 1000) }

    /// Whole seconds since 1970, rounded down.
    public var seconds: Int64 { milliseconds >= 0 ? milliseconds / 1000 : (milliseconds + 1) / 1000 - 1 }

    public static func < (left: Timestamp, right: Timestamp) -> Bool { left.milliseconds < right.milliseconds }

    public static func + (moment: Timestamp, span: Duration) -> Timestamp {
        Timestamp(milliseconds: moment.milliseconds.added(clamped: span.wholeMilliseconds))
    }

    public static func - (moment: Timestamp, span: Duration) -> Timestamp {
        Timestamp(milliseconds: moment.milliseconds.subtracted(clamped: span.wholeMilliseconds))
    }

    public static func - (later: Timestamp, earlier: Timestamp) -> Duration {
        .milliseconds(later.milliseconds.subtracted(clamped: earlier.milliseconds))
    }
}

extension Duration {
    /// Whole milliseconds, rounded towards zero; beyond their range its end.
    public var wholeMilliseconds: Int64 {
        components.seconds.multiplied(clampedBy: 1000).added(clamped: components.attoseconds / 1_000_000_000_000_000)
    }
}

extension Int64 {
    fileprivate func added(clamped other: Int64) -> Int64 {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? other > 0 ? .max : .min : sum
    }

    fileprivate func subtracted(clamped other: Int64) -> Int64 {
        let (difference, overflow) = subtractingReportingOverflow(other)
        return overflow ? other > 0 ? .min : .max : difference
    }

    fileprivate func multiplied(clampedBy factor: Int64) -> Int64 {
        let (product, overflow) = multipliedReportingOverflow(by: factor)
        return overflow ? self > 0 ? .max : .min : product
    }
}
