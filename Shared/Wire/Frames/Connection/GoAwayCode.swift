/// A peer leaves for one of these reasons: the `code` of a go-away frame.
public enum GoAwayCode: String, Hashable, Sendable, CaseIterable {
    /// The sender stops, or is told to drain.
    case shutdown
    /// Nothing happened for the sender's idle timeout.
    case idle
    /// The receiver sent what it must not.
    case protocolError = "protocol_error"
    /// The receiver sent a frame above the sender's limit.
    case frameTooLarge = "frame_too_large"
    /// The receiver's protocol version is not the sender's.
    case unsupportedVersion = "unsupported_version"
    /// The receiver does not take what is sent to it.
    case slowReader = "slow_reader"
    /// The sender has as many connections as it may.
    case tooManyConnections = "too_many_connections"
}
