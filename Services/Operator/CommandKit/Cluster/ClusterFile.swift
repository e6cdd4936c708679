internal import Foundation
internal import Rpc

/// `cluster.json`: the one file that scripts read to find a cluster.
struct ClusterFile: Codable, Sendable, Equatable {
    struct Entry: Codable, Sendable, Equatable {
        /// Where it answers: `host:port` of its RPC listener; for the gateway, of its HTTP listener.
        var address: String
        /// `host:port` of its debug listener; absent for a replaced service, which need not have one.
        var debug: String?
        /// 0 for a replaced service.
        var pid: Int32
        /// True for a service that somebody else runs: `up` does not start it, `down` leaves it alone.
        var replaced: Bool?
        /// The executable that the process was started from; absent in a file of an earlier version, as are the next two.
        var program: String?
        /// `debug` or `release`.
        var build: String?
        /// Tells one build of the program from another; only good to be compared.
        var revision: String?
        /// The second copy of the service, the third and so on; absent where there is one.
        var copies: [Entry]?
        /// The host of a cluster on several that runs the copy; absent on this machine.
        var host: String?
    }

    struct Sandbox: Codable, Sendable, Equatable {
        /// Base URL of the stand-in MVPD.
        var mvpd: String
        /// Base URL of the stand-in Apple.
        var apple: String
        /// Base URL of the stand-in upstream; absent in a file of an earlier version.
        var upstream: String?
        var pid: Int32
        /// As of a service.
        var program: String?
        var build: String?
        var revision: String?
    }

    struct Pki: Codable, Sendable, Equatable {
        var ca: String
        var clientCert: String
        var clientKey: String
    }

    struct SigningPair: Codable, Sendable, Equatable {
        var publicKey: String
        var secret: String
    }

    /// Base URL of the public API.
    var gateway: String
    /// The same over HTTPS; absent in a file of an earlier version.
    var gatewayTLS: String?
    /// Base URL of administration; absent in a file of an earlier version.
    var admin: String?
    /// Where people administer; absent in a file of an earlier version.
    var console: String?
    var services: [String: Entry]
    var sandbox: Sandbox
    var adminToken: String
    var pki: Pki
    /// One software statement per registered application of the catalogue.
    var softwareStatements: [String: String]
    /// What an app without client registration signs its requests with, by application; absent in a file of an earlier version.
    var signedRequests: [String: SigningPair]?
    /// Verifies the reference form of media tokens.
    var mediaTokenCertificate: String
    /// Services that are played by doubles; absent where none is.
    var doubles: [String]?
    /// This machine's address in its network, where phones reach the cluster; absent where they do not.
    var lan: String?

    /// - Throws: `CommandFailure` when the file is there but is not one.
    static func read(_ home: ClusterHome) throws -> ClusterFile? {
        guard let content = FileManager.default.contents(atPath: home.clusterFile.path) else { return nil }
        do {
            return try JSONDecoder().decode(ClusterFile.self, from: content)
        } catch {
            throw CommandFailure("\(home.clusterFile.path) is damaged", advice: "stop the cluster's processes by hand and remove it")
        }
    }

    /// - Parameter advice: Beside starting one.
    /// - Throws: `CommandFailure` when no cluster runs there, or the file is damaged.
    static func required(_ home: ClusterHome, advice: String = "set BOXOFFICE_HOME") throws -> ClusterFile {
        guard let file = try read(home) else {
            throw CommandFailure("no cluster runs in \(home.root.path)", advice: "start one with ./Services/up, or \(advice)", exit: .unreachable)
        }
        return file
    }

    /// Replaces the file as a whole; readable by its owner alone, as it holds the admin token.
    func write(_ home: ClusterHome) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        let temporary = home.root.appendingPathComponent(".cluster.json.new")
        let content = try encoder.encode(self)
        guard FileManager.default.createFile(atPath: temporary.path, contents: content, attributes: [.posixPermissions: 0o600]) else {
            throw CommandFailure("cannot write \(home.clusterFile.path)", advice: "check its permissions and the free space")
        }
        guard rename(temporary.path, home.clusterFile.path) == 0 else {
            throw CommandFailure("cannot replace \(home.clusterFile.path)", advice: String(cString: strerror(errno)))
        }
    }

    /// The services that somebody else runs, in the order of the cluster.
    var replacements: [Replacement] {
        ClusterService.allCases.compactMap { service in
            guard let entry = services[service.rawValue], entry.replaced == true else { return nil }
            return RpcAddress(entry.address).map { Replacement(service: service, address: $0) }
        }
    }

    /// Who signs for the addresses of a cluster that its network reaches: no browser or program knows that authority by itself.
    var authority: String? { lan == nil && !isOnHosts ? nil : pki.ca }

    /// Its programs run on other machines.
    private var isOnHosts: Bool { services.values.contains { $0.host != nil } }

    /// Where administration is: where the file does not say, it is older than the listener, and the public address had it.
    var administration: String { admin ?? gateway }

    /// What the process of a copy of a service was started from; `nil` when the file does not say.
    func program(of copy: ServiceCopy) -> ProgramFile? {
        let service = copy.service
        let entry = entry(of: copy)
        let facts = service == .sandbox ? (sandbox.program, sandbox.build, sandbox.revision) : (entry?.program, entry?.build, entry?.revision)
        guard case (let program?, let build?, let revision?) = facts else { return nil }
        return ProgramFile(path: program, build: build, revision: revision)
    }

    func program(of service: ClusterService) -> ProgramFile? { program(of: ServiceCopy(service)) }

    /// The entry of a copy of a service.
    func entry(of copy: ServiceCopy) -> Entry? {
        let first = services[copy.service.rawValue]
        guard copy.number > 1 else { return first }
        return first?.copies?.dropFirst(copy.number - 2).first
    }

    /// The processes of all copies of all services, the sandbox included; without the replaced services.
    var processes: [ServiceProcess] {
        processIDs.flatMap { service, pid in
            let further = services[service.rawValue]?.copies ?? []
            return [ServiceProcess(service: service, pid: pid)]
                + further.enumerated().map { ServiceProcess(ServiceCopy(service, $0.offset + 2), pid: $0.element.pid) }
        }
    }

    /// The copies of services on other hosts.
    var hostEntries: [(copy: ServiceCopy, entry: Entry)] {
        ClusterService.allCases.flatMap { service in
            let first = services[service.rawValue]
            return ([first].compactMap(\.self) + (first?.copies ?? [])).enumerated().filter { $0.element.host != nil }
                .map { (ServiceCopy(service, $0.offset + 1), $0.element) }
        }
    }

    /// The process ids by service, of the first copies, the sandbox included; without the replaced services.
    var processIDs: [ClusterService: Int32] {
        var found: [ClusterService: Int32] = [.sandbox: sandbox.pid]
        for (name, entry) in services where entry.replaced != true {
            if let service = ClusterService(rawValue: name) { found[service] = entry.pid }
        }
        return found
    }
}
