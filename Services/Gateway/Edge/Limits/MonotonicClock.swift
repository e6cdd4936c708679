internal import NIOCore

/// Time that only goes forward, for limits: changes of the time of day neither free nor punish anyone.
public protocol MonotonicClock: Sendable {
    /// Time since a fixed moment before the first call.
    func elapsed() -> Duration
    /// The same in nanoseconds, never 0.
    func nanoseconds() -> Int64
}

/// The machine's own steady clock.
public struct SteadyClock: MonotonicClock {
    private let start = NIODeadline.now()

    public init() {}

    public func elapsed() -> Duration { .nanoseconds(nanoseconds() - 1) }

    public func nanoseconds() -> Int64 { (NIODeadline.now() - start).nanoseconds + 1 }
}

extension MonotonicClock {
    public func nanoseconds() -> Int64 { elapsed().nanoseconds + 1 }
}

extension Duration {
    /// Whole nanoseconds; the limit of the type for a span beyond it.
    var nanoseconds: Int64 {
        let (seconds, overflow) = components.seconds.multipliedReportingOverflow(by: 1_000_000_000)
        return overflow ? .max : seconds + components.attoseconds / 1_000_000_000
    }
}
