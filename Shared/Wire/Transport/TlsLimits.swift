/// Bounds of one TLS connection.
public struct TlsLimits: Hashable, Sendable {
    /// The handshake may take this long from the moment the connection exists; over it the connection is closed.
    public var handshakeTime: Duration
    /// The most plaintext, in bytes, that may wait for the handshake or for a flush; over it the connection is closed.
    public var pendingOutboundBytes: Int

    public init(handshakeTime: Duration = .seconds(5), pendingOutboundBytes: Int = 16 * 1024 * 1024) {
        self.handshakeTime = handshakeTime
        self.pendingOutboundBytes = pendingOutboundBytes
    }
}
