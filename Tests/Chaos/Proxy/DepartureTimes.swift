import NIOCore

/// When pieces of bytes leave a proxy on one way of a connection, in their order: each after the delay, the rate kept.
struct DepartureTimes {
    private var last: NIODeadline?

    /// - Parameters:
    ///   - bytes: The octets of the piece.
    ///   - random: 0 to 1, the share of the jitter.
    /// - Returns: When it leaves; `nil`: at once, as nothing before it waits.
    mutating func departure(of bytes: Int, rules: WireRules, random: Double, now: NIODeadline) -> NIODeadline? {
        if let last, last <= now { self.last = nil }
        let spent = rules.bytesPerSecond.map { TimeAmount.nanoseconds(Int64(Double(bytes) / Double(max(1, $0)) * 1e9)) } ?? .zero
        let delay = TimeAmount(rules.delay) + .nanoseconds(Int64(Double(TimeAmount(rules.jitter).nanoseconds) * random))
        guard last != nil || spent > .zero || delay > .zero else { return nil }
        let time = max(now + delay, last ?? now) + spent
        last = time
        return time
    }
}
