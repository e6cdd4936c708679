public import NIOSSL

/// A server that is called over HTTP/1.1.
public struct HttpTarget: Sendable {
    /// A name or an address.
    public var host: String
    public var port: Int
    /// For HTTPS; `nil`: plain.
    public var tls: NIOSSLContext?
    /// False: each call has a connection of its own.
    public var keepAlive: Bool

    public init(host: String, port: Int, tls: NIOSSLContext? = nil, keepAlive: Bool = true) {
        self.host = host
        self.port = port
        self.tls = tls
        self.keepAlive = keepAlive
    }
}
