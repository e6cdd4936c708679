internal import Foundation

/// Where the programs of a local cluster listen.
package struct ClusterAddresses: Sendable {
    let ports: PortPlan
    private let host = "127.0.0.1"

    package init(ports: PortPlan) { self.ports = ports }

    func main(_ service: ClusterService) -> String { "\(host):\(ports.main(service))" }

    func debug(_ service: ClusterService) -> String { "\(host):\(ports.debug(service))" }

    var gateway: String { "http://\(main(.gateway))" }
    var gatewayTLS: String { "https://\(host):\(ports.https)" }
    var sandbox: String { "http://\(main(.sandbox))" }
    var apple: String { "http://\(host):\(ports.apple)" }

    /// The sandbox has no debug listener; its own port tells.
    package func readiness(of service: ClusterService) -> String {
        service == .sandbox ? "\(sandbox)/healthz" : "http://\(debug(service))/readyz"
    }

    /// A `cluster.json` in which nothing runs yet.
    func emptyFile(home: ClusterHome, pki: LocalPki) throws -> ClusterFile {
        let services = ClusterService.allCases.filter { $0 != .sandbox }
        let entries = services.map { ($0.rawValue, ClusterFile.Entry(address: main($0), debug: debug($0), pid: 0)) }
        return ClusterFile(
            gateway: gateway, gatewayTLS: gatewayTLS, services: Dictionary(uniqueKeysWithValues: entries),
            sandbox: ClusterFile.Sandbox(mvpd: sandbox, apple: apple, pid: 0), adminToken: try pki.adminToken(),
            pki: ClusterFile.Pki(ca: pki.path("ca.crt"), clientCert: pki.path("operator.crt"), clientKey: pki.path("operator.key")),
            softwareStatements: [:], mediaTokenCertificate: pki.path("media-token.crt"))
    }
}

extension ClusterFile {
    mutating func setProcess(_ process: ServiceProcess) {
        if process.service == .sandbox {
            sandbox.pid = process.pid
        } else {
            services[process.service.rawValue]?.pid = process.pid
        }
    }
}
