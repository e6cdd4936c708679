/// The time that a caller gives a call, as it travels.
enum CallTimeout {
    /// About 35 years: a longer one is taken as this, so that no sum overflows.
    static let longestMicroseconds: UInt64 = 1 << 50
    static let longestSeconds = Int64(longestMicroseconds / 1_000_000)

    /// - Parameter microseconds: 0 means no deadline.
    static func span(_ microseconds: UInt64) -> Duration? {
        microseconds == 0 ? nil : .microseconds(Int64(min(microseconds, longestMicroseconds)))
    }
}
