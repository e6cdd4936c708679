/// Why a connection ended before it could be used, or with a go-away: what WIRE.md §6 lists, and who said it.
public struct ConnectionEnd: Error, Hashable, Sendable, CustomStringConvertible {
    /// A code of a go-away frame, for example `unsupported_version`.
    public let code: String
    /// For the log and the operator.
    public let message: String
    /// True when the peer sent the go-away, false when this side did.
    public let isByPeer: Bool

    public var description: String {
        let who = isByPeer ? "the peer leaves" : "this side refuses the peer"
        return message.isEmpty ? "\(who): \(code)" : "\(who): \(code) (\(message))"
    }
}
