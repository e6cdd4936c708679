package import CommandKit
internal import Foundation
internal import Rpc
internal import Transport

/// The programs of a local cluster listen here.
package struct ClusterAddresses: Sendable {
    let ports: PortPlan
    let replacements: [Replacement]
    let copies: ClusterCopies
    /// This machine's address in its network, where phones reach the cluster.
    let lan: String?
    private let host = "127.0.0.1"

    package init(ports: PortPlan) { self.init(ports: ports, replacements: []) }

    /// - Parameters:
    ///   - replacements: Services that are somebody's own, and where they are.
    ///   - copies: The copies of each service.
    init(ports: PortPlan, replacements: [Replacement], copies: ClusterCopies = ClusterCopies(), lan: String? = nil) {
        self.lan = lan
        self.ports = ports
        self.copies = copies
        self.replacements = replacements
    }

    /// Returns where the service answers.
    func rpc(_ service: ClusterService) -> RpcAddress {
        replacements.first { $0.service == service }?.address ?? RpcAddress(host: host, port: ports.main(service))
    }

    func main(_ service: ClusterService) -> String { rpc(service).description }

    func main(_ copy: ServiceCopy) -> String { copy.number == 1 ? main(copy.service) : "\(host):\(ports.main(copy))" }

    /// The addresses of all copies of a service.
    func all(_ service: ClusterService) -> [String] {
        isReplaced(service) ? [main(service)] : copies.all([service]).map { main($0) }
    }

    func isReplaced(_ service: ClusterService) -> Bool { replacements.contains { $0.service == service } }

    func debug(_ service: ClusterService) -> String { debug(ServiceCopy(service)) }

    func debug(_ copy: ServiceCopy) -> String { "\(host):\(ports.debug(copy))" }

    /// For browsers and apps.
    var gateway: String { lan == nil ? "http://\(main(.gateway))" : gatewayTLS }
    var gatewayTLS: String { "https://\(lan ?? host):\(ports.https)" }
    package var admin: String { "http://\(host):\(ports.admin)" }
    var sandbox: String { "http://\(main(.sandbox))" }
    var apple: String { "http://\(host):\(ports.apple)" }
    var upstream: String { "http://\(host):\(ports.upstream)" }

    /// The sandbox has no debug listener; its own port tells.
    package func readiness(of service: ClusterService) -> String { readiness(of: ServiceCopy(service)) }

    func readiness(of copy: ServiceCopy) -> String {
        copy.service == .sandbox ? "\(sandbox)/healthz" : "http://\(debug(copy))/readyz"
    }

    /// A `cluster.json` in which nothing runs yet.
    func emptyFile(home: ClusterHome, pki: LocalPki) throws -> ClusterFile {
        let services = ClusterService.allCases.filter { $0 != .sandbox }
        let entries: [(String, ClusterFile.Entry)] = services.map { ($0.rawValue, entry(of: $0)) }
        return ClusterFile(
            gateway: gateway, gatewayTLS: gatewayTLS, admin: admin, console: "\(admin)/console",
            services: Dictionary(uniqueKeysWithValues: entries),
            sandbox: ClusterFile.Sandbox(mvpd: sandbox, apple: apple, upstream: upstream, pid: 0), adminToken: try pki.adminToken(),
            pki: ClusterFile.Pki(ca: pki.path("ca.crt"), clientCert: pki.path("operator.crt"), clientKey: pki.path("operator.key")),
            softwareStatements: [:], signedRequests: try pki.demoPairs(), mediaTokenCertificate: try UpstreamCluster.verifiers(pki), lan: lan)
    }

    private func entry(of service: ClusterService) -> ClusterFile.Entry {
        guard !isReplaced(service) else { return ClusterFile.Entry(address: main(service), debug: nil, pid: 0, replaced: true) }
        var entry = ClusterFile.Entry(address: main(service), debug: debug(service), pid: 0)
        entry.copies = furtherEntries(of: service)
        return entry
    }

    /// The entries of the second copy and so on, in which nothing runs yet.
    fileprivate func furtherEntries(of service: ClusterService) -> [ClusterFile.Entry]? {
        let further = copies.all([service]).dropFirst().map { ClusterFile.Entry(address: main($0), debug: debug($0), pid: 0) }
        return further.isEmpty ? nil : further
    }
}

extension ClusterFile {
    /// Enters a process and what it was started from.
    mutating func setProcess(_ process: ServiceProcess, of program: ProgramFile) {
        if process.service == .sandbox {
            (sandbox.pid, sandbox.program, sandbox.build, sandbox.revision) = (process.pid, program.path, program.build, program.revision)
        } else {
            guard var entry = services[process.service.rawValue] else { return }
            if process.number == 1 {
                entry.set(process, of: program)
            } else if entry.copies?.indices.contains(process.number - 2) == true {
                entry.copies?[process.number - 2].set(process, of: program)
            }
            services[process.service.rawValue] = entry
        }
    }

    /// Makes room for copies that are to come, and forgets those that are gone.
    mutating func setCopies(_ addresses: ClusterAddresses) {
        for (name, entry) in services where entry.replaced != true {
            guard let service = ClusterService(rawValue: name) else { continue }
            let known = entry.copies ?? []
            let wanted = addresses.furtherEntries(of: service)
            services[name]?.copies = wanted?.enumerated().map { index, new in
                known.indices.contains(index) && known[index].address == new.address ? known[index] : new
            }
        }
    }
}

extension ClusterFile.Entry {
    fileprivate mutating func set(_ process: ServiceProcess, of program: ProgramFile) {
        (pid, self.program, build, revision) = (process.pid, program.path, program.build, program.revision)
    }
}

extension SoftwareStatements {
    package init(addresses: ClusterAddresses, pki: LocalPki) { self.init(address: addresses.rpc(.config), identity: Self.identity(pki)) }

    /// The addresses of a cluster whose `config` is on another host.
    package init(host: String, ports: PortPlan, pki: LocalPki) {
        self.init(address: RpcAddress(host: host, port: ports.main(.config)), identity: Self.identity(pki))
    }

    /// The operator's.
    private static func identity(_ pki: LocalPki) -> TlsFiles {
        TlsFiles(certificate: pki.path("operator.crt"), key: pki.path("operator.key"), trustAnchors: pki.path("ca.crt"))
    }
}
