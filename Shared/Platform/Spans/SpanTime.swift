#if canImport(Glibc)
internal import Glibc
#elseif canImport(Darwin)
internal import Darwin
#endif

/// When a span began: the moment by the clock on the wall, and a length that no change of that clock touches.
struct SpanTime {
    /// Nanoseconds since 1970.
    let unixNanoseconds: UInt64
    private let steady: UInt64

    static func now() -> SpanTime { SpanTime(unixNanoseconds: read(CLOCK_REALTIME), steady: read(CLOCK_MONOTONIC)) }

    /// The same moment's end, in nanoseconds since 1970.
    func endingNow() -> UInt64 {
        let now = Self.read(CLOCK_MONOTONIC)
        return unixNanoseconds + (now > steady ? now - steady : 0)
    }

    private static func read(_ clock: clockid_t) -> UInt64 {
        var time = timespec()
        clock_gettime(clock, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }
}
