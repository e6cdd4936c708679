internal import Foundation
internal import Rpc

/// `cluster.json`: the one file that scripts read to find a cluster.
package struct ClusterFile: Codable, Sendable, Equatable {
    package struct Entry: Codable, Sendable, Equatable {
        /// It answers here: `host:port` of its RPC listener; for the gateway, of its HTTP listener.
        package var address: String
        /// `host:port` of its debug listener; absent for a replaced service, which need not have one.
        package var debug: String?
        /// 0 for a replaced service.
        package var pid: Int32
        /// True for a service that somebody else runs: `up` does not start it, `down` leaves it alone.
        package var replaced: Bool?
        /// The executable that the process was started from; absent in a file of an earlier version, as are the next two.
        package var program: String?
        /// `debug` or `release`.
        package var build: String?
        /// Tells one build of the program from another; only good to be compared.
        package var revision: String?
        /// The second copy of the service, the third and so on; absent where there is one.
        package var copies: [Entry]?
        /// The host of a cluster on several that runs the copy; absent on this machine.
        package var host: String?

        package init(
            address: String, debug: String? = nil, pid: Int32, replaced: Bool? = nil, program: String? = nil, build: String? = nil,
            revision: String? = nil, copies: [Entry]? = nil, host: String? = nil
        ) {
            self.address = address
            self.debug = debug
            self.pid = pid
            self.replaced = replaced
            self.program = program
            self.build = build
            self.revision = revision
            self.copies = copies
            self.host = host
        }
    }

    package struct Sandbox: Codable, Sendable, Equatable {
        /// Base URL of the stand-in MVPD.
        package var mvpd: String
        /// Base URL of the stand-in Apple.
        package var apple: String
        /// Base URL of the stand-in upstream; absent in a file of an earlier version.
        package var upstream: String?
        package var pid: Int32
        /// As of a service.
        package var program: String?
        package var build: String?
        package var revision: String?

        package init(
            mvpd: String, apple: String, upstream: String? = nil, pid: Int32, program: String? = nil, build: String? = nil, revision: String? = nil
        ) {
            self.mvpd = mvpd
            self.apple = apple
            self.upstream = upstream
            self.pid = pid
            self.program = program
            self.build = build
            self.revision = revision
        }
    }

    package struct Pki: Codable, Sendable, Equatable {
        package var ca: String
        package var clientCert: String
        package var clientKey: String

        package init(ca: String, clientCert: String, clientKey: String) {
            self.ca = ca
            self.clientCert = clientCert
            self.clientKey = clientKey
        }
    }

    package struct SigningPair: Codable, Sendable, Equatable {
        package var publicKey: String
        package var secret: String

        package init(publicKey: String, secret: String) {
            self.publicKey = publicKey
            self.secret = secret
        }
    }

    /// Base URL of the public API.
    package var gateway: String
    /// The same over HTTPS; absent in a file of an earlier version.
    package var gatewayTLS: String?
    /// Base URL of administration; absent in a file of an earlier version.
    package var admin: String?
    /// People administer here; absent in a file of an earlier version.
    package var console: String?
    package var services: [String: Entry]
    package var sandbox: Sandbox
    package var adminToken: String
    package var pki: Pki
    /// One software statement per registered application of the catalogue.
    package var softwareStatements: [String: String]
    /// The keys with which apps without client registration sign their requests, by application; absent in a file of an earlier version.
    package var signedRequests: [String: SigningPair]?
    /// Verifies the reference form of media tokens.
    package var mediaTokenCertificate: String
    /// Services that are played by doubles; absent where none is.
    package var doubles: [String]?
    /// This machine's address in its network, where phones reach the cluster; absent where they do not.
    package var lan: String?

    package init(
        gateway: String, gatewayTLS: String? = nil, admin: String? = nil, console: String? = nil, services: [String: Entry], sandbox: Sandbox,
        adminToken: String, pki: Pki, softwareStatements: [String: String], signedRequests: [String: SigningPair]? = nil,
        mediaTokenCertificate: String, doubles: [String]? = nil, lan: String? = nil
    ) {
        self.gateway = gateway
        self.gatewayTLS = gatewayTLS
        self.admin = admin
        self.console = console
        self.services = services
        self.sandbox = sandbox
        self.adminToken = adminToken
        self.pki = pki
        self.softwareStatements = softwareStatements
        self.signedRequests = signedRequests
        self.mediaTokenCertificate = mediaTokenCertificate
        self.doubles = doubles
        self.lan = lan
    }

    /// - Throws: `CommandFailure` when the file is there but is not one.
    package static func read(_ home: ClusterHome) throws -> ClusterFile? {
        guard let content = FileManager.default.contents(atPath: home.clusterFile.path) else { return nil }
        do {
            return try JSONDecoder().decode(ClusterFile.self, from: content)
        } catch {
            throw CommandFailure("\(home.clusterFile.path) is damaged", advice: "stop the cluster's processes by hand and remove it")
        }
    }

    /// - Parameter advice: Beside starting one.
    /// - Throws: `CommandFailure` when no cluster runs there, or the file is damaged.
    package static func required(_ home: ClusterHome, advice: String = "set BOXOFFICE_HOME") throws -> ClusterFile {
        guard let file = try read(home) else {
            throw CommandFailure("no cluster runs in \(home.root.path)", advice: "start one with ./Services/up, or \(advice)", exit: .unreachable)
        }
        return file
    }

    /// Replaces the file as a whole; readable by its owner alone, as it holds the admin token.
    package func write(_ home: ClusterHome) throws {
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
    package var replacements: [Replacement] {
        ClusterService.allCases.compactMap { service in
            guard let entry = services[service.rawValue], entry.replaced == true else { return nil }
            return RpcAddress(entry.address).map { Replacement(service: service, address: $0) }
        }
    }

    /// The authority that signs for the addresses of a cluster that its network reaches: no browser or program knows that authority by itself.
    package var authority: String? { lan == nil && !isOnHosts ? nil : pki.ca }

    /// Its programs run on other machines.
    private var isOnHosts: Bool { services.values.contains { $0.host != nil } }

    /// Administration is here: where the file does not say, it is older than the listener, and the public address had it.
    package var administration: String { admin ?? gateway }

    /// The program from which the process of a copy of a service was started; `nil` when the file does not say.
    package func program(of copy: ServiceCopy) -> ProgramFile? {
        let service = copy.service
        let entry = entry(of: copy)
        let facts = service == .sandbox ? (sandbox.program, sandbox.build, sandbox.revision) : (entry?.program, entry?.build, entry?.revision)
        guard case (let program?, let build?, let revision?) = facts else { return nil }
        return ProgramFile(path: program, build: build, revision: revision)
    }

    package func program(of service: ClusterService) -> ProgramFile? { program(of: ServiceCopy(service)) }

    /// The entry of a copy of a service.
    package func entry(of copy: ServiceCopy) -> Entry? {
        let first = services[copy.service.rawValue]
        guard copy.number > 1 else { return first }
        return first?.copies?.dropFirst(copy.number - 2).first
    }

    /// The processes of all copies of all services, the sandbox included; without the replaced services.
    package var processes: [ServiceProcess] {
        processIDs.flatMap { service, pid in
            let further = services[service.rawValue]?.copies ?? []
            return [ServiceProcess(service: service, pid: pid)]
                + further.enumerated().map { ServiceProcess(ServiceCopy(service, $0.offset + 2), pid: $0.element.pid) }
        }
    }

    /// The copies of services on other hosts.
    package var hostEntries: [(copy: ServiceCopy, entry: Entry)] {
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

extension ClusterFile {
    /// The file with the certificates of upstreams beside ours.
    package static let verifiersName = "media-token-verifiers.crt"

    /// The certificates of the cluster's verifiers where its media tokens may be an upstream's: its gateway publishes its own alone.
    /// - Throws: `CommandFailure` when the file cannot be read.
    package func upstreamCertificates() throws -> String? {
        mediaTokenCertificate.hasSuffix(Self.verifiersName) ? try TextFile.read(mediaTokenCertificate) : nil
    }
}
