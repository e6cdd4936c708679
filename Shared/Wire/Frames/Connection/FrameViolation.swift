/// Bytes that are no frame. The connection cannot go on after one.
public enum FrameRejection: Error, Hashable, Sendable {
    /// The length prefix says zero.
    case empty
    /// The length prefix says more than the receiver accepts.
    case tooLarge(byteCount: Int, limit: Int)
    /// The bytes are no protobuf message of the frame's form, or a text in it is not UTF-8 or holds a NUL.
    case malformed
    /// The frame is of no kind that this version knows.
    case unknownKind

    /// The code of the go-away.
    public var code: GoAwayCode {
        if case .tooLarge = self { return .frameTooLarge }
        return .protocolError
    }

    /// For the peer's log.
    public var message: String {
        switch self {
        case .empty: "A frame of no bytes."
        case .tooLarge(let byteCount, let limit): "A frame of \(byteCount) bytes; the limit is \(limit)."
        case .malformed: "A frame that does not decode."
        case .unknownKind: "A frame of no known kind."
        }
    }
}
