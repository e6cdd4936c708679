/// A TLS identity cannot be used, or a connection ended otherwise than both ends wished, for this reason.
public struct TlsError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of trouble.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private enum Known: String, Hashable, Sendable {
            case unusableFile = "unusable_file"
            case handshakeTimedOut = "handshake_timed_out"
            case handshakeFailed = "handshake_failed"
            case refusedByPeer = "refused_by_peer"
            case untrustedPeer = "untrusted_peer"
            case wrongPeerName = "wrong_peer_name"
            case truncated = "truncated"
            case protocolViolation = "protocol_violation"
            case outboundLimit = "outbound_limit"
            case outOfMemory = "out_of_memory"
        }

        private var known: Known

        private init(_ known: Known) { self.known = known }

        /// lower_snake_case, for logs and metric labels.
        public var description: String { known.rawValue }

        /// A certificate, key or trust anchor file is absent, unreadable, malformed, or does not fit the others.
        public static let unusableFile = Code(.unusableFile)
        /// The peer did not finish the handshake in the time given.
        public static let handshakeTimedOut = Code(.handshakeTimedOut)
        /// The peer spoke no TLS 1.3, or left during the handshake.
        public static let handshakeFailed = Code(.handshakeFailed)
        /// The peer sent an alert (RFC 8446 §6.2), for example because it does not accept this end's certificate.
        public static let refusedByPeer = Code(.refusedByPeer)
        /// The peer's certificate does not lead to a trust anchor, or is expired.
        public static let untrustedPeer = Code(.untrustedPeer)
        /// The peer's certificate is genuine but of another service.
        public static let wrongPeerName = Code(.wrongPeerName)
        /// The connection ended without close_notify: data may be missing (RFC 8446 §6.1).
        public static let truncated = Code(.truncated)
        /// The peer broke the TLS protocol after the handshake, or a record does not authenticate.
        public static let protocolViolation = Code(.protocolViolation)
        /// More bytes wait to be encrypted than the limit allows.
        public static let outboundLimit = Code(.outboundLimit)
        /// OpenSSL could not allocate.
        public static let outOfMemory = Code(.outOfMemory)
    }

    public var code: Code
    /// For the log and the operator; holds file paths, never key material.
    public var message: String

    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    public var description: String { "\(code): \(message)" }
}
