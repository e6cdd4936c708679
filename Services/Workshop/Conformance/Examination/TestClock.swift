internal import Clocks

/// The time of the examiner, which an implementation's own must resemble.
enum TestClock {
    /// Milliseconds since 1970.
    static var now: UInt64 { UInt64(clamping: SystemClock().now().milliseconds) }

    /// Longest wait for an end that an implementation names, in milliseconds.
    private static let patience: UInt64 = 30_000

    /// Waits until that time is over, by 50 ms.
    static func pass(_ milliseconds: UInt64) async throws {
        let now = now
        let left = milliseconds > now ? min(milliseconds - now, patience) : 0
        try await Task.sleep(for: .milliseconds(Int64(left) + 50))
    }
}
