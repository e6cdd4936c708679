/// The most that a server spends. Over a limit a call is answered `overloaded` at once, a connection is closed.
public struct RpcServerLimits: Hashable, Sendable {
    /// Connections at a time, from the end of their handshakes. A few more are told `too_many_connections`; beyond those they are closed unheard.
    public var connections = 1024
    /// Programs that call. When there are more, each is asked to keep connections to some copies only: the connections of all would not find room.
    public var callers: Int { connections / 10 }
    /// TLS handshakes under way at a time, in all and of one address: no place of a connection is taken before its peer is known. One more closes the
    /// oldest.
    public var handshakes = 1024
    public var handshakesPerAddress = 512
    /// Bytes of one frame without its length prefix, 1024 to 64 MiB; a larger one is refused before it is read.
    public var frameBytes = 4 * 1024 * 1024
    /// Calls in flight of one connection.
    public var callsPerConnection = 1024
    /// Calls in flight of one method on one connection, by `service/method`; a method that is not named may use all.
    public var callsPerMethod: [String: Int] = [:]
    /// Calls in flight of one method over all connections.
    public var callsPerMethodInAll = 4096
    /// From the connection to the end of the TLS handshake.
    public var handshakeTime: Duration = .seconds(5)
    /// From the end of the handshake to the peer's hello.
    public var helloTime: Duration = .seconds(5)
    /// Time without a call after which a connection is closed.
    public var idleTime: Duration = .seconds(300)
    /// Silence of a peer after which it is pinged, and time that it has for the answer.
    public var pingInterval: Duration = .seconds(15)
    public var pingTimeout: Duration = .seconds(5)
    /// Bytes that may wait for a peer before the server stops reading from it.
    public var outboundHighWaterMark = 1024 * 1024
    /// Bytes that may wait for a peer at all; over it the peer is a slow reader and is dropped.
    public var outboundBytes = 16 * 1024 * 1024
    /// A peer may leave the high water mark exceeded for this long before it is dropped as a slow reader.
    public var slowReaderTime: Duration = .seconds(10)
    /// Advice that goes with `overloaded`.
    public var overloadedRetryAfter: Duration = .milliseconds(100)

    public init() {}
}
