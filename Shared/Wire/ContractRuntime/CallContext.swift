/// What travels with a call beside its message.
public struct CallContext: Sendable {
    /// When the caller stops waiting; `nil` when it waits for ever.
    public var deadline: ContinuousClock.Instant?
    public var trace: TraceContext
    /// Equal keys of one caller are one change of state; `nil` on calls that change nothing.
    public var idempotencyKey: String?
    /// Name in the caller's certificate, for example `gateway.boxoffice`; `nil` for a call within the process.
    public var caller: String?

    public init(
        deadline: ContinuousClock.Instant? = nil, trace: TraceContext = .random(), idempotencyKey: String? = nil, caller: String? = nil
    ) {
        self.deadline = deadline
        self.trace = trace
        self.idempotencyKey = idempotencyKey
        self.caller = caller
    }

    /// Time left until the deadline, never negative; `nil` when there is none.
    public var timeLeft: Duration? {
        deadline.map { max(.zero, ContinuousClock.now.duration(to: $0)) }
    }

    /// A context for a call that this call makes: same deadline, a child span, no idempotency key.
    /// - Parameter limit: The longest that the inner call may take; the deadline is the earlier one.
    public func child(within limit: Duration? = nil) -> CallContext {
        let latest = limit.map { ContinuousClock.now.advanced(by: $0) }
        let earliest = [deadline, latest].compactMap { $0 }.min()
        return CallContext(deadline: earliest, trace: trace.child(), idempotencyKey: nil, caller: nil)
    }
}
