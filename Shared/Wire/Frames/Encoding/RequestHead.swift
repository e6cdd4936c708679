public import ContractRuntime

/// The caller's words about a call beside its message.
public struct RequestHead: Sendable {
    /// As `ConnectionStateMachine.beginCall` returned it.
    public var callID: UInt64
    /// Full name of the service.
    public var service: String
    public var method: String
    /// Time left until the caller stops waiting, in microseconds; 0 means no deadline.
    public var timeoutMicroseconds: UInt64
    public var trace: TraceContext?
    /// Set when the call changes state.
    public var idempotencyKey: String?

    public init(
        callID: UInt64, service: String, method: String, timeoutMicroseconds: UInt64 = 0, trace: TraceContext? = nil, idempotencyKey: String? = nil
    ) {
        self.callID = callID
        self.service = service
        self.method = method
        self.timeoutMicroseconds = timeoutMicroseconds
        self.trace = trace
        self.idempotencyKey = idempotencyKey
    }

    /// Time left until the deadline in the form that travels: at least 1 µs, 0 for no deadline.
    public static func timeoutMicroseconds(until deadline: ContinuousClock.Instant?, now: ContinuousClock.Instant) -> UInt64 {
        guard let deadline else { return 0 }
        let (seconds, attoseconds) = now.duration(to: deadline).components
        guard seconds >= 0, attoseconds >= 0 else { return 1 }
        guard seconds < CallTimeout.longestSeconds else { return CallTimeout.longestMicroseconds }
        return max(1, UInt64(seconds) * 1_000_000 + UInt64(attoseconds / 1_000_000_000_000))
    }
}
