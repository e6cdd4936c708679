#if canImport(Glibc)
internal import Glibc
#elseif canImport(Darwin)
internal import Darwin
#endif

/// The time of day. Logic takes one as an argument so that tests decide what time it is.
public protocol WallClock: Sendable {
    func now() -> Timestamp
}

/// The machine's own clock.
public struct SystemClock: WallClock {
    public init() {}

    public func now() -> Timestamp {
        var moment = timespec()
        clock_gettime(CLOCK_REALTIME, &moment)
        return Timestamp(milliseconds: Int64(moment.tv_sec) * 1000 + Int64(moment.tv_nsec) / 1_000_000)
    }
}
