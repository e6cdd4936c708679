/// How a server of somebody else's is reached. Calls by different routes share no connection, so a server that hangs takes none from another.
public struct OutboundRoute: Hashable, Sendable {
    /// Whose the connections are: one peer's, however many addresses it has.
    public var peer: String
    /// DER; empty: the system's.
    public var trustAnchors: [[UInt8]] = []
    /// Shown to the server; `nil`: none.
    public var certificate: ClientCertificate?
    public var connectTimeout: Duration
    /// From the request's last byte to the answer, and between two parts of the answer.
    public var responseTimeout: Duration
    /// Connections at once to one host, at least 1. Over HTTP/2 one connection carries all calls.
    public var connections: Int
    public var version: Version
    /// The age after which a connection takes no further call, at least 1 s; `nil`: it stays as long as it is used. A call under way keeps its
    /// connection.
    public var connectionAge: Duration?
    /// Where connections go whatever the host's name means; `nil`: where the name leads.
    var pin: Pin?

    /// The version of HTTP that calls use.
    public enum Version: Hashable, Sendable {
        case http1
        /// Where the server agrees during the TLS handshake (RFC 9113 §3.2), else as `http1`; without TLS always so.
        case http2
    }

    /// A host, and the address of it that was checked.
    struct Pin: Hashable, Sendable {
        /// As the address writes it, without brackets.
        let host: String
        let address: String
    }

    public init(
        peer: String, trustAnchors: [[UInt8]] = [], certificate: ClientCertificate? = nil, connectTimeout: Duration, responseTimeout: Duration,
        connections: Int, version: Version = .http1, connectionAge: Duration? = nil
    ) {
        self.peer = peer
        self.trustAnchors = trustAnchors
        self.certificate = certificate
        self.connectTimeout = connectTimeout
        self.responseTimeout = responseTimeout
        self.connections = connections
        self.version = version
        self.connectionAge = connectionAge
    }
}
