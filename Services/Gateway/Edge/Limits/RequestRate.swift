internal import NIOCore

/// The leaky bucket of one address (generic cell rate algorithm): it loses one request per interval and holds `burst` beside the one that comes.
/// A refused request adds nothing (rest-v1 §2.7).
struct RequestRate: AddressRecord {
    /// The limit for all addresses.
    struct Limit: Sendable {
        /// Nanoseconds for which one request counts.
        let interval: Int64
        /// Nanoseconds by which an address may be ahead.
        let tolerance: Int64

        init(perSecond: Int, burst: Int) {
            interval = 1_000_000_000 / Int64(perSecond)
            tolerance = interval * Int64(burst)
        }
    }

    /// When the bucket is empty again, in nanoseconds.
    private(set) var expires: Int64 = 0

    /// - Returns: The nanoseconds for which a request would still be one too many; 0 or less when it would not.
    func excess(at now: Int64, _ limit: Limit) -> Int64 { max(expires, now) - now - limit.tolerance }

    /// Counts a request.
    /// - Parameter now: In nanoseconds.
    /// - Returns: False when it is one too many.
    mutating func admit(at now: Int64, _ limit: Limit) -> Bool {
        guard excess(at: now, limit) <= 0 else { return false }
        expires = max(expires, now) + limit.interval
        return true
    }

    /// Counts a request that has passed already, also one too many.
    mutating func charge(at now: Int64, _ limit: Limit) { expires = max(expires, now) + limit.interval }

    /// A request that was counted does not count after all.
    mutating func giveBack(_ limit: Limit) { expires = max(0, expires - limit.interval) }

    /// Whole seconds, at least 1, after which a request that is refused now would pass.
    func wait(at now: Int64, _ limit: Limit) -> Int { max(1, Int((excess(at: now, limit) + 999_999_999) / 1_000_000_000)) }
}

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
