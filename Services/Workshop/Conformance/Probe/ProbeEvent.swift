internal import Frames

/// What a connection brought.
enum ProbeEvent: Sendable {
    case frame(Frame)
    /// Bytes that are no frame; nothing after them is read.
    case garbage(String)
    case closed
}
