/// The actions that the I/O shell of a connection must take, in order.
public enum ConnectionAction: Hashable, Sendable {
    /// Write the frame.
    case send(Frame)
    /// The peer's hello is in: set the encoder's limit from it; a caller may begin calls.
    case opened(Hello)
    /// Caller: the peer takes no new calls; send them elsewhere.
    case peerLeaves(code: String, message: String)
    /// Caller: the call ends with this, and nothing more is delivered for it.
    case fail(CallFailure)
    /// Callee: the caller no longer waits; stop the work. Its further output is not sent.
    case stopWork(callID: UInt64)
    /// Flush what was sent, then close. Nothing comes after this.
    case close(CloseReason)
}
