/// A moment as milliseconds since 1970-01-01T00:00:00Z, the resolution of the public API.
public struct Timestamp: Hashable, Comparable, Sendable, Codable {
    /// Milliseconds since 1970; negative before.
    public var milliseconds: Int64

    /// - Parameter milliseconds: Milliseconds since 1970.
    public init(milliseconds: Int64) { self.milliseconds = milliseconds }

    /// - Parameter seconds: Seconds since 1970.
    public init(seconds: Int64) { milliseconds = seconds * 1000 }

    /// Whole seconds since 1970, rounded down.
    public var seconds: Int64 { milliseconds >= 0 ? milliseconds / 1000 : (milliseconds - 999) / 1000 }

    public static func < (left: Timestamp, right: Timestamp) -> Bool { left.milliseconds < right.milliseconds }

    public static func + (moment: Timestamp, span: Duration) -> Timestamp {
        Timestamp(milliseconds: moment.milliseconds + span.wholeMilliseconds)
    }

    public static func - (moment: Timestamp, span: Duration) -> Timestamp {
        Timestamp(milliseconds: moment.milliseconds - span.wholeMilliseconds)
    }

    public static func - (later: Timestamp, earlier: Timestamp) -> Duration {
        .milliseconds(later.milliseconds - earlier.milliseconds)
    }
}

extension Duration {
    /// Whole milliseconds, rounded towards zero.
    public var wholeMilliseconds: Int64 {
        components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000
    }
}
