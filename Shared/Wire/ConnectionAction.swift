public import Faults

/// What the I/O shell of a connection must do, in order.
public enum ConnectionAction: Hashable, Sendable {
    /// Write the frame.
    case send(Frame)
    /// The peer's hello is in: set the encoder's limit from it; a caller may begin calls.
    case opened(Hello)
    /// Caller: the peer takes no new calls; send them elsewhere.
    case peerLeaves(code: String, message: String)
    /// Caller: the call ends with this, and nothing more is delivered for it.
    case fail(CallFailure)
    /// Callee: nobody waits for the call any more; stop its work. What it still produces is not sent.
    case stopWork(callID: UInt64)
    /// Flush what was sent, then close. Nothing comes after this.
    case close(CloseReason)
}

/// Why a connection ends.
public enum CloseReason: Hashable, Sendable {
    /// Nothing is left to do after a go-away of either side.
    case drained
    /// The peer closed or the network broke.
    case lost
    /// The peer did not answer a ping in time.
    case deadPeer
    /// The peer did not say hello in time.
    case helloTimeout
    /// Calls were still in flight when the drain time was over.
    case drainTimeout
    /// This side refused to go on; the go-away was sent before.
    case refused(GoAwayCode, String)
}

/// How a call of this side ended without an answer of the callee.
public struct CallFailure: Hashable, Sendable {
    public var callID: UInt64
    public var code: Fault.Code
    public var message: String
    /// False when it is certain that the callee did not begin: such a call may be sent elsewhere, whatever it changes.
    public var mayHaveBegun: Bool

    public var fault: Fault { Fault(code, message) }
}
