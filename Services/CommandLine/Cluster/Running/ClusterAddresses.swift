internal import Foundation
internal import Rpc

/// Where the programs of a local cluster listen.
package struct ClusterAddresses: Sendable {
    let ports: PortPlan
    let replacements: [Replacement]
    private let host = "127.0.0.1"

    package init(ports: PortPlan) { self.init(ports: ports, replacements: []) }

    /// - Parameter replacements: Services that are somebody's own, and where they are.
    init(ports: PortPlan, replacements: [Replacement]) {
        self.ports = ports
        self.replacements = replacements
    }

    /// Where the service answers.
    func rpc(_ service: ClusterService) -> RpcAddress {
        replacements.first { $0.service == service }?.address ?? RpcAddress(host: host, port: ports.main(service))
    }

    func main(_ service: ClusterService) -> String { rpc(service).description }

    func isReplaced(_ service: ClusterService) -> Bool { replacements.contains { $0.service == service } }

    func debug(_ service: ClusterService) -> String { "\(host):\(ports.debug(service))" }

    var gateway: String { "http://\(main(.gateway))" }
    var gatewayTLS: String { "https://\(host):\(ports.https)" }
    package var admin: String { "http://\(host):\(ports.admin)" }
    var sandbox: String { "http://\(main(.sandbox))" }
    var apple: String { "http://\(host):\(ports.apple)" }

    /// The sandbox has no debug listener; its own port tells.
    package func readiness(of service: ClusterService) -> String {
        service == .sandbox ? "\(sandbox)/healthz" : "http://\(debug(service))/readyz"
    }

    /// A `cluster.json` in which nothing runs yet.
    func emptyFile(home: ClusterHome, pki: LocalPki) throws -> ClusterFile {
        let services = ClusterService.allCases.filter { $0 != .sandbox }
        let entries: [(String, ClusterFile.Entry)] = services.map { ($0.rawValue, entry(of: $0)) }
        return ClusterFile(
            gateway: gateway, gatewayTLS: gatewayTLS, admin: admin, services: Dictionary(uniqueKeysWithValues: entries),
            sandbox: ClusterFile.Sandbox(mvpd: sandbox, apple: apple, pid: 0), adminToken: try pki.adminToken(),
            pki: ClusterFile.Pki(ca: pki.path("ca.crt"), clientCert: pki.path("operator.crt"), clientKey: pki.path("operator.key")),
            softwareStatements: [:], signedRequests: try pki.demoPairs(), mediaTokenCertificate: pki.path("media-token.crt"))
    }

    private func entry(of service: ClusterService) -> ClusterFile.Entry {
        isReplaced(service)
            ? ClusterFile.Entry(address: main(service), debug: nil, pid: 0, replaced: true)
            : ClusterFile.Entry(address: main(service), debug: debug(service), pid: 0)
    }
}

extension ClusterFile {
    /// Enters a process and what it was started from.
    mutating func setProcess(_ process: ServiceProcess, of program: ProgramFile) {
        if process.service == .sandbox {
            (sandbox.pid, sandbox.program, sandbox.build, sandbox.revision) = (process.pid, program.path, program.build, program.revision)
        } else {
            guard var entry = services[process.service.rawValue] else { return }
            (entry.pid, entry.program, entry.build, entry.revision) = (process.pid, program.path, program.build, program.revision)
            services[process.service.rawValue] = entry
        }
    }
}
