/// The outcome of a response, stream item or stream end that came in.
public enum ReplyVerdict {
    /// Give it to the waiting caller.
    case deliver
    /// Drop it: the call was given up lately.
    case drop
    /// The connection cannot go on.
    case violation([ConnectionAction])
}
