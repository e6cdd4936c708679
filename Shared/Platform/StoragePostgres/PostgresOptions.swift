/// Which server keeps a store, and how to get there.
public struct PostgresOptions: Sendable, Hashable {
    /// One of the servers that may be the primary.
    public struct Host: Sendable, Hashable, CustomStringConvertible {
        /// A name, an address, or the folder of a socket.
        public let name: String
        public let port: UInt16

        public init(name: String, port: UInt16) {
            self.name = name
            self.port = port
        }

        public var isSocket: Bool { name.hasPrefix("/") }
        public var description: String { name.contains(":") ? "[\(name)]:\(port)" : "\(name):\(port)" }
    }

    /// PEM files. The server's certificate must name the host.
    public struct Tls: Sendable, Hashable {
        public let trustAnchors: String
        /// The client's own, where the server asks for one.
        public let certificate: String?
        public let key: String?
        /// True when the proof of a password must hold for this connection alone: a pooler cannot give that.
        public let requiresChannelBinding: Bool

        public init(trustAnchors: String, certificate: String? = nil, key: String? = nil, requiresChannelBinding: Bool = true) {
            self.trustAnchors = trustAnchors
            self.certificate = certificate
            self.key = key
            self.requiresChannelBinding = requiresChannelBinding
        }
    }

    /// Tried in this order; the first that takes writes is the one.
    public var hosts: [Host]
    public var database: String
    public var user: String
    /// Read at each connect, so that a password changes without a restart; `nil`: none is needed.
    public var passwordFile: String?
    /// `nil`: in the clear, for a socket or the machine's own address.
    public var tls: Tls?
    /// Refuses a server that does not wait for a standby with each commit.
    public var requireStandby = false
    /// Connections for statements that read, for plans, and for transactions with Swift between their statements, each at least 1.
    public var readConnections = 2, writeConnections = 2, interactive = 8
    /// True when statements stay prepared with the server; not through a pooler that does not know of them.
    public var isPrepared = true
    /// The tables are here; `nil`: as the server has it for the user.
    public var schema: String?

    public init(hosts: [Host], database: String, user: String) {
        self.hosts = hosts
        self.database = database
        self.user = user
    }

    /// For logs and operators.
    public var place: String { "postgres://\(user)@\(hosts.map(\.description).joined(separator: ","))/\(database)" }
}
