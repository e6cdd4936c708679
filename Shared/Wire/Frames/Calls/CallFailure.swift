public import Faults

/// A call of this side ended without an answer of the callee in this way.
public struct CallFailure: Hashable, Sendable {
    public var callID: UInt64
    public var code: Fault.Code
    public var message: String
    /// False when it is certain that the callee did not begin: such a call may be sent elsewhere, even if it changes state.
    public var mayHaveBegun: Bool

    public var fault: Fault { Fault(code, message) }
}

extension CallFailure {
    static func notBegun(_ id: UInt64) -> CallFailure {
        CallFailure(callID: id, code: .unavailable, message: "The peer leaves and did not begin the call.", mayHaveBegun: false)
    }

    static func broken(_ id: UInt64) -> CallFailure {
        CallFailure(callID: id, code: .unavailable, message: "The connection ended before the answer.", mayHaveBegun: true)
    }

    static func late(_ id: UInt64) -> CallFailure {
        CallFailure(callID: id, code: .deadlineExceeded, message: "The deadline is over.", mayHaveBegun: true)
    }

    static func cancelled(_ id: UInt64) -> CallFailure {
        CallFailure(callID: id, code: .cancelled, message: "This side leaves.", mayHaveBegun: true)
    }
}
