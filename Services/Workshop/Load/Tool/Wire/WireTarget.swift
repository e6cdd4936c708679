public import Rpc
public import Transport

/// A service that is called over the wire.
public struct WireTarget: Sendable {
    /// Copies of it; connections are dealt out to them in turn.
    public var addresses: [RpcAddress]
    /// The DNS SAN of its certificate.
    public var peerName: String
    /// The tool's own identity.
    public var identity: TlsIdentity
    var configuration: RpcClient.Configuration

    /// - Parameter callsPerConnection: In flight at once at most; the service may accept fewer.
    public init(
        addresses: [RpcAddress], peerName: String, identity: TlsIdentity, callsPerConnection: Int = 1024, connectTime: Duration = .seconds(5)
    ) {
        self.addresses = addresses
        self.peerName = peerName
        self.identity = identity
        configuration = RpcClient.Configuration(addresses: addresses, peerName: peerName, identity: identity, software: "boxoffice-load")
        configuration.callsPerConnection = callsPerConnection
        configuration.connectTime = connectTime
        configuration.frameBytes = 64 * 1024 * 1024
    }
}
