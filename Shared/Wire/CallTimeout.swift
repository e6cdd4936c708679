/// The time that a caller gives a call, as it travels.
enum CallTimeout {
    /// About 35 years: a longer one is taken as this, so that no sum of instants overflows.
    static let longestMicroseconds: UInt64 = 1 << 50
    static let longestSeconds = Int64(longestMicroseconds / 1_000_000)

    /// - Parameter microseconds: 0 means no deadline.
    static func deadline(_ microseconds: UInt64, from start: ContinuousClock.Instant) -> ContinuousClock.Instant? {
        guard microseconds > 0 else { return nil }
        return start.advanced(by: .microseconds(Int64(min(microseconds, longestMicroseconds))))
    }
}
