/// A connection ends for one of these reasons.
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
