import AsyncHTTPClient
import ClusterCommands
import CommandKit
import Foundation
import Glibc
import Synchronization

/// Two hosts with all services each, over one PostgreSQL, as `boxoffice settings --host` prepares them; a balancer in front of the gateways.
final class HostsCluster: Sendable {
    struct Place: Hashable, Sendable {
        let host: HostNetwork.Host
        let service: ClusterService
    }

    let network: HostNetwork
    let hosts: [HostNetwork.Host]
    /// Where the stand-ins of MVPD and Apple run.
    let world: HostNetwork.Host
    let folder: URL
    let people = (0..<2000).map { "viewer-\($0)" }
    let balancer: Balancer
    let ports = PortPlan(base: nil)
    private let binaries: Mutex<URL>
    private let client: HTTPClient
    private let processes = Mutex<[Place: ServiceProcess]>([:])
    private let sandbox = Mutex<ServiceProcess?>(nil)

    /// The services that a host runs.
    static let services: [ClusterService] = [.config, .authentication, .authorization, .autosignin, .gateway]

    /// - Parameters:
    ///   - hosts: Those of the services.
    ///   - databases: Keep the stores.
    init(
        folder: URL, network: HostNetwork, hosts: [HostNetwork.Host], world: HostNetwork.Host, binaries: URL, checkout: URL, client: HTTPClient,
        databases: DatabaseServers
    ) throws {
        (self.network, self.hosts, self.world, self.client, self.folder) = (network, hosts, world, client, folder)
        self.binaries = Mutex(binaries)
        let ports = self.ports
        // Names that only the balancer knows; it speaks HTTPS to the gateways.
        let (gateway, admin) = ("https://tv.example", "https://admin.tv.example")
        balancer = Balancer(
            publicAddresses: [gateway, admin],
            targets: hosts.map { host in
                let addresses = [ports.https, ports.admin].map { "https://\(host.address):\($0)" }
                return Balancer.Target(addresses: addresses, readiness: "\(addresses[0])/readyz")
            }, client: client)
        let keys = Self.keys(in: folder)
        guide = databases.guide
        names = GuideNames(
            names: [
                ("boxoffice", binaries.appendingPathComponent("boxoffice").path), ("KEYS", keys.folder.path),
                ("OUT", folder.appendingPathComponent("hosts").path), ("a1", hosts[0].name), ("b1", hosts[1].name), ("10.0.0.1", network.here),
                ("ca.crt", databases.trustAnchor.path),
            ] + zip(["db-a", "db-b", "db-c"], databases.servers).map { ($0, $1.host.address) })
        try FileManager.default.createDirectory(at: logs, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        for command in try guide.commands(under: Self.building).map(names.placed) {
            if command.hasPrefix("psql ") {
                try databases.run(command: command)
            } else {
                try Tool.run(["/bin/bash", "-ec", command], folder: checkout)
            }
        }
        try makeStandIns(gateway, admin, binaries, checkout)
        for host in hosts {
            for service in Self.services { try adapt(service, at: host, checkout) }
        }
        try edit(settings.appendingPathComponent("\(hosts[0].name)/config/catalogue.json")) { catalogue in
            // Trials that last longer than the run.
            catalogue = Self.replaced(catalogue) { object in
                guard object["kind"] as? String == "basic", object["ttl"] != nil else { return object }
                return object.merging(["ttl": 864_000]) { $1 }
            }
        }
        try edit(standIns.appendingPathComponent("sandbox/config.json")) { settings in
            settings["people"] = (["ada"] + people).map { ["name": $0] }
            settings = Self.replaced(settings) { Self.withPages(in: checkout, $0) }
        }
    }

    /// An operator has a catalogue, secrets of MVPDs, and Apple. Here they are the stand-ins', as `boxoffice settings` writes them for containers.
    private func makeStandIns(_ gateway: String, _ admin: String, _ binaries: URL, _ checkout: URL) throws {
        try Tool.run(
            [
                binaries.appendingPathComponent("boxoffice").path, "settings", "--pki", pki.folder.path, "--folder", standIns.path, "--gateway",
                gateway,
                "--gateway-tls", gateway, "--admin", admin, "--sandbox", "http://\(world.address):8090", "--apple", "http://\(world.address):8091",
            ], folder: checkout)
        let (own, files) = (settings.appendingPathComponent(hosts[0].name), FileManager.default)
        try files.copyItem(at: standIns.appendingPathComponent("config/catalogue.json"), to: own.appendingPathComponent("config/catalogue.json"))
        let named = standIns.appendingPathComponent("config/pki").path
        for file in try files.contentsOfDirectory(atPath: named) {
            let target = own.appendingPathComponent("config/pki/\(file)").path
            if !files.fileExists(atPath: target) { try files.copyItem(atPath: "\(named)/\(file)", toPath: target) }
        }
        for host in hosts {
            for service in [ClusterService.authentication, .autosignin] {
                for file in try files.contentsOfDirectory(atPath: pki.folder.path) {
                    let isSecret = file.hasSuffix(".secret") || file.hasPrefix("apple-") && file.hasSuffix(".key")
                    guard isSecret else { continue }
                    try files.copyItem(
                        at: pki.folder.appendingPathComponent(file),
                        to: settings.appendingPathComponent("\(host.name)/\(service.rawValue)/secrets/\(file)"))
                }
            }
        }
    }

    private let guide: GuidePage
    /// The names in the commands that wrote the settings.
    let names: GuideNames
    private static let (building, checking) = ("The hosts", "See that the hosts work")

    /// Headings whose every line is followed.
    static let followed = [building, checking]
    var publicAddress: String { balancer.publicAddresses[0] }
    var administration: String { balancer.publicAddresses[1] }
    var logs: URL { folder.appendingPathComponent("logs") }
    private var settings: URL { folder.appendingPathComponent("hosts") }
    private var standIns: URL { folder.appendingPathComponent("stand-ins") }
    private var pki: LocalPki { Self.keys(in: folder) }

    private static func keys(in folder: URL) -> LocalPki { LocalPki(folder: folder.appendingPathComponent("pki")) }

    /// The authority of the gateways' certificates, in a cluster with that folder.
    static func authority(in folder: URL) -> String { keys(in: folder).folder.appendingPathComponent("ca.crt").path }

    var adminToken: String {
        get throws { try pki.adminToken() }
    }

    func softwareStatement() async throws -> String {
        let statements = SoftwareStatements(host: hosts[0].address, ports: ports, pki: pki)
        guard let statement = try await statements.fetch()["acme-tv"] else { throw ChaosFailure("the catalogue has no application acme-tv") }
        return statement
    }

    // MARK: Settings

    private func file(of service: ClusterService, at host: HostNetwork.Host) -> URL {
        settings.appendingPathComponent("\(host.name)/\(service.rawValue)/config.json")
    }

    /// Makes the operator's changes: the places of state and pages, the owner of Apple, and the number of calls of one address. Here all calls come
    /// from one.
    private func adapt(_ service: ClusterService, at host: HostNetwork.Host, _ checkout: URL) throws {
        let data = folder.appendingPathComponent("data/\(host.name)/\(service.rawValue)")
        try FileManager.default.createDirectory(at: data, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        let apple = (try object(at: standIns.appendingPathComponent("autosignin/config.json"))["autosignin"] as? [String: Any])?["apple"]
        try edit(file(of: service, at: host)) { settings in
            settings["data"] = data.path
            var own = settings[service.rawValue] as? [String: Any] ?? [:]
            if service == .gateway { own["throttle"] = (own["throttle"] as? [String: Any])?.merging(["burst": 1_000_000]) { $1 } }
            if service == .autosignin { own["apple"] = apple }
            settings[service.rawValue] = own
            settings = Self.replaced(settings) { Self.withPages(in: checkout, $0) }
        }
    }

    /// A host would have them in a folder of its own.
    private static func withPages(in checkout: URL, _ object: [String: Any]) -> [String: Any] {
        let folder = "/usr/share/boxoffice/"
        return object.mapValues { value in
            guard let text = value as? String, text.hasPrefix(folder) else { return value }
            return checkout.appendingPathComponent("Services/\(text.dropFirst(folder.count))").path
        }
    }

    private func edit(_ file: URL, _ change: (inout [String: Any]) throws -> Void) throws {
        var content = try object(at: file)
        try change(&content)
        try JSONSerialization.data(withJSONObject: content, options: [.prettyPrinted, .sortedKeys]).write(to: file, options: .atomic)
    }

    /// - Returns: The stand-ins in it are where they are here, and not in a network of containers.
    private func object(at file: URL) throws -> [String: Any] {
        let text = try String(contentsOf: file, encoding: .utf8).replacing("sandbox:809", with: "\(world.address):809")
        guard let object = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any] else {
            throw ChaosFailure("\(file.path) is no JSON object")
        }
        return object
    }

    /// Changes each object in this one, the innermost first.
    private static func replaced(_ object: [String: Any], _ change: ([String: Any]) -> [String: Any]) -> [String: Any] {
        func walk(_ value: Any) -> Any {
            switch value {
            case let object as [String: Any]: change(object.mapValues(walk))
            case let list as [Any]: list.map(walk)
            default: value
            }
        }
        return walk(object) as? [String: Any] ?? object
    }

    func log(of place: Place) -> URL { logs.appendingPathComponent("\(place.host.name)-\(place.service.rawValue).log") }

    // MARK: Processes

    var places: [Place] { hosts.flatMap { host in Self.services.map { Place(host: host, service: $0) } } }

    /// - Parameter folder: The folder of the programs that start from now on.
    func use(binaries folder: URL) { binaries.withLock { $0 = folder } }

    private func program(_ service: ClusterService) throws -> String {
        let binary = binaries.withLock { $0.appendingPathComponent(service.rawValue) }
        guard FileManager.default.isExecutableFile(atPath: binary.path) else { throw ChaosFailure("\(binary.path) is not built; build it first") }
        return binary.path
    }

    private func start(_ service: ClusterService, at host: HostNetwork.Host, _ file: URL, log: URL) throws -> ServiceProcess {
        let words = host.wrapper + [try program(service), "--config", file.path]
        return try ServiceProcess.start(
            service, binary: URL(fileURLWithPath: words[0]), arguments: Array(words.dropFirst()),
            environment: service.environment.merging(["MVPD_STANDIN": world.address]) { $1 }, log: log)
    }

    /// Runs what the guide has for that, where the hosts have their names.
    func seeThatTheyWork() throws {
        for command in try guide.commands(under: Self.checking).map(names.placed) {
            try Tool.run(world.wrapper + ["/bin/bash", "-ec", command])
        }
    }

    func startSandbox() async throws {
        let process = try start(
            .sandbox, at: world, standIns.appendingPathComponent("sandbox/config.json"),
            log: logs.appendingPathComponent("sandbox.log"))
        sandbox.withLock { $0 = process }
        try await Wait.until("the stand-ins answer", within: .seconds(20)) { await answers("http://\(world.address):8090/healthz") }
    }

    /// Starts a service and does not wait for it.
    func launch(_ place: Place) throws {
        let process = try start(place.service, at: place.host, file(of: place.service, at: place.host), log: log(of: place))
        processes.withLock { $0[place] = process }
    }

    func process(_ place: Place) -> ServiceProcess? { processes.withLock { $0[place] } }

    private static func readiness(of service: ClusterService, at host: HostNetwork.Host) -> String {
        ClusterAddresses(ports: PortPlan(base: nil)).readiness(of: service).replacing("127.0.0.1", with: host.address)
    }

    func isReady(_ place: Place) async -> Bool { await answers(Self.readiness(of: place.service, at: place.host)) }

    /// A program's own word on its readiness; `nil`: nothing.
    func readiness(of place: Place) async -> (status: UInt, text: String)? {
        guard let answer = await ask(Self.readiness(of: place.service, at: place.host)), let body = try? await answer.body.collect(upTo: 1 << 16)
        else { return nil }
        return (answer.status.code, String(buffer: body))
    }

    private func answers(_ url: String) async -> Bool { await ask(url)?.status == .ok }

    private func ask(_ url: String) async -> HTTPClientResponse? {
        var request = HTTPClientRequest(url: url)
        request.headers.add(name: "Connection", value: "close")
        return try? await client.execute(request, timeout: .seconds(1))
    }

    /// Waits until the program is connected to each service that it calls. One that is ready may have tried to connect when they did not listen yet.
    /// It tries again within half a second, and answers 503 until then.
    func waitUntilConnected(_ place: Place) async throws {
        let metrics = Self.readiness(of: place.service, at: place.host).replacing("/readyz", with: "/metrics")
        try await Wait.until(
            "\(place.service.rawValue) at \(place.host.name) is connected to its peers", within: .seconds(10), every: .milliseconds(20)
        ) {
            guard let answer = await ask(metrics), let body = try? await answer.body.collect(upTo: 1 << 22) else { return false }
            let connections = Self.connections(String(buffer: body))
            // Only `config` calls nobody.
            return (!connections.isEmpty || place.service == .config) && connections.allSatisfy { $0 >= 1 }
        }
    }

    /// - Parameter metrics: In Prometheus' text form.
    /// - Returns: How many a program has to each of its peers.
    private static func connections(_ metrics: String) -> [Double] {
        metrics.split(separator: "\n").filter { $0.hasPrefix("boxoffice_rpc_client_connections{") }.compactMap { line in
            line.split(separator: " ").last.flatMap { Double($0) }
        }
    }

    /// - Returns: When it was.
    @discardableResult
    func waitUntilReady(_ place: Place, within limit: Duration = .seconds(30)) async throws -> ContinuousClock.Instant {
        try await Wait.until("\(place.service.rawValue) at \(place.host.name) is ready (its log: \(log(of: place).path))", within: limit) {
            // For a moment it is `ip` that runs.
            guard let process = process(place), process.isRunning || kill(process.pid, 0) == 0 else {
                let lines = (try? String(contentsOf: log(of: place), encoding: .utf8))?.split(separator: "\n") ?? []
                throw ChaosFailure("\(place.service.rawValue) at \(place.host.name) ended: \(lines.last.map(String.init) ?? "its log is empty")")
            }
            return await isReady(place)
        }
        return .now
    }

    /// - Parameter number: `SIGKILL` or `SIGTERM`.
    func end(_ place: Place, _ number: Int32) async throws {
        guard let process = process(place) else { return }
        process.signal(number)
        try await Wait.until("\(place.service.rawValue) at \(place.host.name) has ended", within: .seconds(20), every: .milliseconds(2)) {
            !process.isRunning
        }
    }

    /// - Returns: Those that had to be killed, or had ended before.
    func stop() async -> [String] {
        await balancer.stop()
        let processes = processes.withLock { $0 }
        let missing = processes.filter { !$1.isRunning }.map { "\($0.key.service.rawValue) at \($0.key.host.name) had ended by itself" }
        // Gateways go on for five seconds first.
        let killed = await ClusterStopper.stop(Array(processes.values) + [sandbox.withLock { $0 }].compactMap(\.self), patience: .seconds(25))
        return missing + killed.map { "\($0.name) did not stop when asked to" }
    }
}
