public import Transport

extension RpcServer {
    /// Where a server listens, who it is, and what it spends.
    public struct Configuration: Sendable {
        /// Port 0 takes a free one.
        public var address: RpcAddress
        public var identity: TlsIdentity
        /// Who may call what; empty refuses everyone.
        public var allow: AllowList
        public var limits = RpcServerLimits()
        /// Where the program runs, as its hello says; empty: it does not say.
        public var zone = ""
        /// How long calls in flight may go on once the server drains.
        public var drainTime: Duration = .seconds(10)
        /// Name of the program, for peers' logs.
        public var software: String
        public var softwareVersion: String

        public init(address: RpcAddress, identity: TlsIdentity, allow: AllowList, software: String, softwareVersion: String = "0") {
            self.address = address
            self.identity = identity
            self.allow = allow
            self.software = software
            self.softwareVersion = softwareVersion
        }
    }
}
