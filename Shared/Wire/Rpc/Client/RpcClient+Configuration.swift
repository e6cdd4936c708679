public import Transport

extension RpcClient {
    /// Whom a client calls, who it is, and how patient it is.
    public struct Configuration: Sendable {
        /// Copies of the peer. A name that has several addresses of one family stands for a copy at each of them.
        public var addresses: [RpcAddress]
        /// Names whose SRV records (RFC 2782) say where further copies are, for example `_authentication._tcp.example`.
        public var serviceNames: [String] = []
        /// Where this program runs: copies in the same zone get its calls while they are a third of those that can work. Empty: all zones are alike.
        public var zone = ""
        /// Number of this program, the same on all connections that it makes.
        package var instance = ProcessInstance.number
        /// How often a name is looked up anew, so that copies that came or went are noticed.
        public var lookupInterval: Duration = .seconds(5)
        package var serviceLookup: @Sendable (_ name: String) async throws -> [ServiceRecord] = { try await ServiceLookup.records(of: $0) }
        package var lookup: @Sendable (_ host: String) async throws -> [String] = NameLookup.addresses
        /// To each copy, at least 1. With one per event loop a call stays on the loop of its caller, if that is one.
        public var connectionsPerAddress = 1
        /// The DNS SAN that the peer's certificate must have, for example `authentication.boxoffice`.
        public var peerName: String
        public var identity: TlsIdentity
        /// For a call with one answer whose context has no deadline; `nil` waits for ever.
        public var defaultTimeout: Duration? = .seconds(10)
        /// From the attempt to connect to the peer's hello.
        public var connectTime: Duration = .seconds(2)
        public var backoff = ReconnectBackoff()
        /// Attempts of one call at most, the first included.
        public var attempts = 3
        /// Bytes of one frame without its length prefix that are accepted, 1024 to 64 MiB.
        public var frameBytes = 16 * 1024 * 1024
        /// Calls in flight per connection before further ones are answered `overloaded`.
        public var callsPerConnection = 1024
        /// Silence of the peer after which it is pinged, and time that it has for the answer.
        public var pingInterval: Duration = .seconds(5)
        public var pingTimeout: Duration = .seconds(2)
        /// How long calls in flight may go on at shutdown, or when the peer leaves.
        public var drainTime: Duration = .seconds(10)
        /// Items of a stream that may wait for their consumer; a slower one loses the stream.
        public var streamBuffer = 1024
        /// Bytes that may wait for a peer that does not read; over it the connection is dropped.
        public var outboundBytes = 64 * 1024 * 1024
        /// True when copies that say that they cannot work get no calls while others can: one stream (`Health.Watch`) on each connection.
        public var followsHealth = false
        /// Name of the program, for peers' logs.
        public var software: String
        public var softwareVersion: String

        public init(addresses: [RpcAddress], peerName: String, identity: TlsIdentity, software: String, softwareVersion: String = "0") {
            self.addresses = addresses
            self.peerName = peerName
            self.identity = identity
            self.software = software
            self.softwareVersion = softwareVersion
        }
    }
}
