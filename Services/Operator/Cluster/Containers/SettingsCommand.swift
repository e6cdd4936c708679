package import ArgumentParser
internal import CommandKit
internal import Foundation

/// `boxoffice settings`: what each program needs in a container of its own.
package struct SettingsCommand: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "settings",
        abstract: "Write keys and settings for programs that run in containers, or on several hosts.",
        discussion: """
            Makes the keys and certificates that are missing, and a folder for each program with its settings and the keys that it reads; the folder \
            'operator' is for this command line (BOXOFFICE_HOME). compose.yaml runs it first. In the network, each program is found by its name \
            and its default port; the options say how browsers and apps outside find what is published.

            With --host, once for each host: a folder for each host, with one for each program in it. Every program finds the copies of its peers on all \
            hosts, by the hosts' names. The gateways serve HTTPS at port 8443 and administration, with a certificate, at 8081. Certificates are for one \
            host each and end after 90 days: run the command again in time, and copy what it renewed. Settings that are there stay as they are, and it \
            lists what it would write otherwise. With --store-host the stores are in PostgreSQL, and 'postgres.sql' holds what its administrator runs.
            """
    )

    @Option(help: "The folder that gets a folder per program.")
    var folder: String

    @Option(help: "The folder of all keys; only this command needs access to it.")
    var pki: String

    @Option(
        name: .customLong("host"),
        help: ArgumentHelp(
            "A host that gets a copy of each program, with its zone if it has one; once for each host. Default: none.", valueName: "name[=zone]"))
    var hosts: [String] = []

    @Option(
        name: .customLong("store-host"),
        help: ArgumentHelp(
            "A PostgreSQL server that may be the primary; once for each. The services on the hosts keep their stores there. Default: files.",
            valueName: "host:port"))
    var storeHosts: [String] = []

    @Option(name: .customLong("store-ca"), help: "PEM file of the authority of the servers' certificates.")
    var storeAuthority: String?

    @Flag(name: .customLong("require-standby"), help: "Refuse a PostgreSQL server that waits for no standby.")
    var requiresStandby = false

    @Option(help: "Base URL of the gateway for browsers and apps; needed with --host. Default: http://localhost:8080.")
    var gateway: String?

    @Option(
        name: .customLong("gateway-tls"), help: "Base URL of the gateway's HTTPS. Default: https://localhost:8443; with --host that of --gateway.")
    var gatewayTLS: String?

    @Option(help: "Base URL of the gateway's administration. Default: http://localhost:8081; with --host https at port 8081 of the first host.")
    var admin: String?

    @Option(help: "Base URL of the stand-in MVPD for browsers. Default: http://localhost:8090.")
    var sandbox: String?

    @Option(help: "Base URL of the stand-in Apple for browsers. Default: http://localhost:8091.")
    var apple: String?

    @Option(help: "Base URL of the stand-in upstream for browsers. Default: http://localhost:8092.")
    var upstream: String?

    @Option(
        name: .customLong("debug-address"),
        help: ArgumentHelp(
            "Where the programs of a host tell metrics and readiness, if not at the address of its name; once for each such host.",
            valueName: "host=ip"))
    var debugAddresses: [String] = []

    @Flag(
        name: .customLong("plain-behind-proxy"),
        help: "With --host: the gateways serve plain HTTP to the proxy that --trusted-proxy names, and to whoever else reaches port 8080.")
    var isPlainBehindProxy = false

    @Option(
        name: .customLong("trusted-proxy"),
        help: "Address or block of the proxy in front of the gateway whose X-Forwarded-For counts; or none.")
    var trustedProxy = "none"

    @Option(help: "Burst of calls that one address may make, above one a second: 0 to 1000000.")
    var burst = 10

    @Flag(help: "Print JSON.")
    var json = false

    package init() {}

    package func validate() throws {
        _ = try HostPlan.all(hosts, debugAddresses: debugAddresses)
        _ = try database
        guard (0...1_000_000).contains(burst) else { throw ValidationError("--burst takes a number from 0 to 1000000; it is \(burst)") }
        for (name, text) in [
            ("--gateway", gateway), ("--gateway-tls", gatewayTLS), ("--admin", admin), ("--sandbox", sandbox), ("--apple", apple),
            ("--upstream", upstream),
        ] {
            guard let text, !ContainerNetwork.isBase(text) else { continue }
            throw ValidationError("\(name) takes scheme, host and port, such as http://localhost:8080; it is '\(text)'")
        }
        guard hosts.isEmpty else { return try validateHosts() }
        if isPlainBehindProxy { throw ValidationError("--plain-behind-proxy is for services on several hosts; name them with --host") }
    }

    private func validateHosts() throws {
        guard let gateway else {
            throw ValidationError("--host needs --gateway: scheme, host and port by which browsers reach the gateways, such as https://tv.example")
        }
        for (name, text) in [("--gateway", gateway), ("--gateway-tls", gatewayTLS ?? gateway)] where !text.hasPrefix("https://") {
            throw ValidationError(
                "\(name) must begin with https:// on hosts, as browsers keep no cookie of a sign-in over plain HTTP; it is '\(text)'")
        }
        if let admin, !admin.hasPrefix("https://") {
            throw ValidationError("--admin must begin with https:// on hosts, where administration has a certificate; it is '\(admin)'")
        }
        for (name, text) in [("--sandbox", sandbox), ("--apple", apple), ("--upstream", upstream)] where text != nil {
            throw ValidationError("\(name) is for programs in containers: there are no stand-ins on hosts")
        }
        if isPlainBehindProxy, trustedProxy == "none" {
            throw ValidationError("--plain-behind-proxy needs --trusted-proxy: the address of the proxy that ends TLS in front of the gateways")
        }
    }

    private var database: HostDatabase? {
        get throws { try HostDatabase(hosts: storeHosts, authority: storeAuthority, requiresStandby: requiresStandby, copies: hosts.count) }
    }

    private var network: ContainerNetwork {
        get throws {
            var network = ContainerNetwork()
            network.hosts = try HostPlan.all(hosts, debugAddresses: debugAddresses)
            network.gateway = gateway ?? network.gateway
            if let first = network.hosts.first {
                network.gatewayTLS = network.gateway
                network.admin = "https://\(first.name):\(PortPlan(base: nil).admin)"
            }
            network.gatewayTLS = gatewayTLS ?? network.gatewayTLS
            network.admin = admin ?? network.admin
            network.sandbox = sandbox ?? network.sandbox
            network.apple = apple ?? network.apple
            network.upstream = upstream ?? network.upstream
            return network
        }
    }

    package func run() async throws {
        let console = Console(isQuiet: json)
        let keys = LocalPki(folder: URL(fileURLWithPath: pki))
        do {
            try FileManager.default.createDirectory(at: keys.folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch {
            throw CommandFailure("cannot make the folder \(pki)", advice: "check its owner and permissions (\(PlainReason.of(error)))")
        }
        var made = try keys.ensure()
        if !hosts.isEmpty { made += try keys.ensureSharedKeys() }
        let database = try database
        if let database { try keys.ensureDatabase(database) }
        let settings = ContainerSettings(
            network: try network, pki: keys, checkout: Checkout.current, folder: URL(fileURLWithPath: folder),
            trustedProxy: trustedProxy == "none" ? "" : trustedProxy, burst: burst, database: database, isPlainBehindProxy: isPlainBehindProxy)
        let kept = try settings.write()
        for entry in kept {
            console.line("\(entry.file): kept as it is; it differs from what this release writes (remove it to have it written again)")
            for difference in entry.differences { console.line("    \(difference)") }
        }
        let (places, programs) = hosts.isEmpty ? ("", ClusterService.allCases.count) : (" on \(hosts.count) hosts", ClusterService.allCases.count - 1)
        console.line("\(folder): settings of \(programs) programs\(places), \(made.count) keys and certificates made")
        if !hosts.isEmpty, database == nil {
            console.line("copies on several hosts share no store yet: give --store-host, or name one in 'storage' of each service's settings")
        }
        if database != nil {
            console.line("\(folder)/\(HostDatabase.script): makes roles and databases; run it once with psql at the primary, as its administrator")
        }
        for file in settings.missingCatalogues { console.line("\(file): is not there yet; put your catalogue there before the first start") }
        if json {
            let differences = Dictionary(uniqueKeysWithValues: kept.map { ($0.file, $0.differences) })
            try JsonOutput.show(["folder": folder, "kept": kept.map(\.file), "differences": differences, "made": made] as [String: Any])
        }
    }
}

/// Addresses of a cluster whose programs run in containers: from outside, as browsers and apps know them, and inside, by the programs' names.
package struct ContainerNetwork: Sendable, Equatable {
    /// Scheme, host and port as a browser on the host finds them: of the gateway, its HTTPS, its administration, the stand-in MVPD, Apple and
    /// upstream.
    var gateway = "http://localhost:8080"
    var gatewayTLS = "https://localhost:8443"
    var admin = "http://localhost:8081"
    var sandbox = "http://localhost:8090"
    var apple = "http://localhost:8091"
    var upstream = "http://localhost:8092"

    /// Hosts with a copy of each program; the stand-ins are on the first of them. Empty: each program is found by its own name.
    var hosts: [HostPlan] = []

    /// The default ports are the same in every container, whatever the host publishes them as.
    private static let ports = PortPlan(base: nil)

    /// True for scheme, host and port alone.
    package static func isBase(_ text: String) -> Bool {
        guard let url = URLComponents(string: text), ["http", "https"].contains(url.scheme), url.host?.isEmpty == false else { return false }
        return url.path.isEmpty && url.query == nil && url.fragment == nil
    }

    /// Returns where the programs of the network find one: `host:port`.
    func inside(_ service: ClusterService) -> String { "\(place(service)):\(Self.ports.main(service))" }
    func debug(_ service: ClusterService) -> String { "\(place(service)):\(Self.ports.debug(service))" }
    var appleInside: String { "\(place(.sandbox)):\(Self.ports.apple)" }
    var upstreamInside: String { "\(place(.sandbox)):\(Self.ports.upstream)" }

    private func place(_ service: ClusterService) -> String { hosts.first?.name ?? service.rawValue }

    /// Returns where all copies of one are.
    func copies(_ service: ClusterService) -> [String] {
        hosts.isEmpty ? [inside(service)] : hosts.map { "\($0.name):\(Self.ports.main(service))" }
    }

    /// An address of the documented settings, in this network.
    /// - Parameters:
    ///   - text: As it stands in `Services/<Name>/config.json`.
    ///   - key: Under which key.
    func address(_ text: String, key: String) -> String {
        // Apple's servers call this one, no browser does.
        let isBetweenServers = key == "notificationURL"
        let ports = Self.ports
        var table: [(from: String, to: String)] = [
            ("http://127.0.0.1:\(ports.main(.gateway))", isBetweenServers ? "http://\(inside(.gateway))" : gateway),
            ("http://127.0.0.1:\(ports.main(.sandbox))", sandbox), ("http://127.0.0.1:\(ports.apple)", "http://\(appleInside)"),
            ("http://127.0.0.1:\(ports.upstream)", upstream),
        ]
        table += ClusterService.allCases.map { ("127.0.0.1:\(ports.main($0))", inside($0)) }
        guard let entry = table.first(where: { text == $0.from || text.hasPrefix($0.from + "/") }) else { return text }
        return entry.to + text.dropFirst(entry.from.count)
    }
}
