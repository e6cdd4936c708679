/// The values that travel with a call beside its message.
public struct CallContext: Sendable {
    /// The caller stops waiting at this time; `nil` when it waits for ever.
    public var deadline: ContinuousClock.Instant?
    public var trace: TraceContext
    /// Equal keys of one caller are one change of state; `nil` on calls that change nothing.
    public var idempotencyKey: String?
    /// Name in the caller's certificate, for example `gateway.boxoffice`; `nil` for a call within the process.
    public var caller: String?
    /// Calls with the same number go to the same copy of the callee while it can take them: what a copy remembers is then complete. It does not travel.
    public var affinity: UInt64?

    public init(
        deadline: ContinuousClock.Instant? = nil, trace: TraceContext = .random(), idempotencyKey: String? = nil, caller: String? = nil,
        affinity: UInt64? = nil
    ) {
        self.deadline = deadline
        self.trace = trace
        self.idempotencyKey = idempotencyKey
        self.caller = caller
        self.affinity = affinity
    }

    /// Time left until the deadline, never negative; `nil` when there is none.
    public var timeLeft: Duration? {
        deadline.map { max(.zero, ContinuousClock.now.duration(to: $0)) }
    }

    /// A context for a call that this call makes: same deadline, a child span, no idempotency key, no affinity.
    /// - Parameter limit: The longest that the inner call may take; the deadline is the earlier one.
    public func child(within limit: Duration? = nil) -> CallContext {
        let latest = limit.map { ContinuousClock.now.advanced(by: $0) }
        let earliest = [deadline, latest].compactMap { $0 }.min()
        return CallContext(deadline: earliest, trace: trace.child(), idempotencyKey: nil, caller: nil)
    }

    /// A number for calls about the same pair of names: equal in every process.
    public static func affinity(_ first: String, _ second: String) -> UInt64 {
        // FNV-1a over both, with an octet in between that UTF-8 does not have.
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in first.utf8 { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01b3 }
        hash = (hash ^ 0xff) &* 0x0000_0100_0000_01b3
        for byte in second.utf8 { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01b3 }
        return hash
    }
}
