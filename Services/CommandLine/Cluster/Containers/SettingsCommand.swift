public import ArgumentParser
internal import Foundation

/// `boxoffice settings`: what each program needs in a container of its own.
public struct SettingsCommand: AsyncParsableCommand {
    public static let configuration = CommandConfiguration(
        commandName: "settings",
        abstract: "Write keys and settings for programs that run in containers, or on several hosts.",
        discussion: """
            Makes the keys and certificates that are missing, and a folder for each program with its settings and the keys that it reads; the folder \
            'operator' is for this command line (BOXOFFICE_HOME). compose.yaml runs it first. In the network, each program is found by its name \
            and its default port; the options say how browsers and apps outside find what is published.

            With --host, once for each host: a folder for each host, with one for each program in it. Every program finds the copies of its peers on all \
            hosts, by the hosts' names. Certificates are for one host each and end after 90 days: run the command again in time, and copy what it renewed. \
            With --store-host the stores are in PostgreSQL, and 'postgres.sql' holds what its administrator runs.
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

    @Option(help: "Base URL of the gateway for browsers and apps.")
    var gateway = ContainerNetwork().gateway

    @Option(name: .customLong("gateway-tls"), help: "Base URL of the gateway's HTTPS.")
    var gatewayTLS = ContainerNetwork().gatewayTLS

    @Option(help: "Base URL of the gateway's administration.")
    var admin = ContainerNetwork().admin

    @Option(help: "Base URL of the stand-in MVPD for browsers.")
    var sandbox = ContainerNetwork().sandbox

    @Option(help: "Base URL of the stand-in Apple for browsers.")
    var apple = ContainerNetwork().apple

    @Option(help: "Base URL of the stand-in upstream for browsers.")
    var upstream = ContainerNetwork().upstream

    @Option(
        name: .customLong("trusted-proxy"),
        help: "Address or block of the proxy in front of the gateway whose X-Forwarded-For counts; or none.")
    var trustedProxy = "none"

    @Option(help: "Burst of calls that one address may make, above one a second: 0 to 1000000.")
    var burst = 10

    @Flag(help: "Print JSON.")
    var json = false

    public init() {}

    public func validate() throws {
        let names = try hosts.map { try HostPlan($0).name }
        guard Set(names).count == names.count else { throw ValidationError("--host names a host twice") }
        _ = try database
        guard (0...1_000_000).contains(burst) else { throw ValidationError("--burst takes a number from 0 to 1000000; it is \(burst)") }
        for (name, text) in [
            ("--gateway", gateway), ("--gateway-tls", gatewayTLS), ("--admin", admin), ("--sandbox", sandbox), ("--apple", apple),
            ("--upstream", upstream),
        ] where !ContainerNetwork.isBase(text) {
            throw ValidationError("\(name) takes scheme, host and port, such as http://localhost:8080; it is '\(text)'")
        }
    }

    private var database: HostDatabase? {
        get throws { try HostDatabase(hosts: storeHosts, authority: storeAuthority, requiresStandby: requiresStandby, copies: hosts.count) }
    }

    public func run() async throws {
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
        let network = ContainerNetwork(
            gateway: gateway, gatewayTLS: gatewayTLS, admin: admin, sandbox: sandbox, apple: apple, upstream: upstream,
            hosts: try hosts.map(HostPlan.init))
        let kept = try ContainerSettings(
            network: network, pki: keys, checkout: Checkout.current, folder: URL(fileURLWithPath: folder),
            trustedProxy: trustedProxy == "none" ? "" : trustedProxy, burst: burst, database: database
        ).write()
        for file in kept { console.line("\(file): kept as it is; it differs from what this release writes (remove it to have it written again)") }
        let places = hosts.isEmpty ? "" : " on \(hosts.count) hosts"
        console.line("\(folder): settings of \(ClusterService.allCases.count) programs\(places), \(made.count) keys and certificates made")
        if !hosts.isEmpty, database == nil {
            console.line("copies on several hosts share no store yet: give --store-host, or name one in 'storage' of each service's settings")
        }
        if database != nil {
            console.line("\(folder)/\(HostDatabase.script): makes roles and databases; run it once with psql at the primary, as its administrator")
        }
        if json { try JsonOutput.show(["folder": folder, "kept": kept.map { "\($0)" }, "made": made]) }
    }
}
