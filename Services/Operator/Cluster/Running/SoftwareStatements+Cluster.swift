package import CommandKit
internal import Rpc
internal import Transport

extension SoftwareStatements {
    package init(addresses: ClusterAddresses, pki: LocalPki) { self.init(address: addresses.rpc(.config), identity: Self.identity(pki)) }

    /// Of a cluster whose `config` is on another host.
    package init(host: String, ports: PortPlan, pki: LocalPki) {
        self.init(address: RpcAddress(host: host, port: ports.main(.config)), identity: Self.identity(pki))
    }

    /// The operator's.
    private static func identity(_ pki: LocalPki) -> TlsFiles {
        TlsFiles(certificate: pki.path("operator.crt"), key: pki.path("operator.key"), trustAnchors: pki.path("ca.crt"))
    }
}
