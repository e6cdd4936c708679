import AsyncHTTPClient
import ClusterCommands
import CommandKit
import FaultProxy
import Foundation
import NIOCore
import NIOPosix
import Synchronization

/// A cluster of the real programs with a proxy on each way between two of them; state, keys and ports are its own.
final class ChaosCluster: Sendable {
    let home: ClusterHome
    let ports: PortPlan
    let people: [String]
    let proxies: [ProxiedWay: FaultProxy]
    private let base: Int
    private let binaries: URL
    private let checkout: URL
    private let client: HTTPClient
    private let state = Mutex<[ClusterService: ServiceProcess]>([:])
    private let conditions = Mutex<[ClusterService: LaunchCondition]>([:])

    var gateway: String { "http://127.0.0.1:\(ports.main(.gateway))" }
    var administration: String { ClusterAddresses(ports: ports).admin }

    /// - Parameters:
    ///   - folder: The folder of all its state; made anew.
    ///   - base: The first of about 40 ports.
    ///   - binaries: Folder of the programs.
    init(folder: URL, base: Int, binaries: URL, checkout: URL, client: HTTPClient) async throws {
        home = ClusterHome(root: folder)
        ports = PortPlan(base: base)
        self.base = base
        self.binaries = binaries
        self.checkout = checkout
        self.client = client
        people = (0..<2000).map { "viewer-\($0)" }
        try home.prepare()
        let pki = LocalPki(folder: home.pki)
        try pki.ensure()
        try SettingsWriter(home: home, ports: ports, checkout: checkout, pki: pki).writeAnew()
        var proxies: [ProxiedWay: FaultProxy] = [:]
        for way in ProxiedWay.all {
            proxies[way] = try await FaultProxy.start(
                port: base + way.offset, to: "127.0.0.1", ports.main(way.callee), group: MultiThreadedEventLoopGroup.singleton)
        }
        self.proxies = proxies
        try editSettings()
    }

    // MARK: Settings

    /// Names the proxies, or the services themselves, to all callers; counts from their next start.
    func route(throughProxies: Bool) throws {
        for service in ClusterService.allCases {
            try edit(service) { settings in
                guard var peers = settings["peers"] as? [String: Any] else { return }
                for way in ProxiedWay.all where way.caller == service {
                    guard var peer = peers[way.callee.rawValue] as? [String: Any] else { continue }
                    peer["addresses"] = ["127.0.0.1:\(throughProxies ? base + way.offset : ports.main(way.callee))"]
                    peers[way.callee.rawValue] = peer
                }
                settings["peers"] = peers
            }
        }
    }

    private func editSettings() throws {
        try route(throughProxies: true)
        try edit(.sandbox) { $0["people"] = (["ada"] + people).map { ["name": $0] } }
        // Trials that last longer than the run.
        let catalogue = try String(contentsOf: home.catalogue, encoding: .utf8)
            .replacing(#""kind": "basic", "ttl": 600"#, with: #""kind": "basic", "ttl": 864000"#)
        try Data(catalogue.utf8).write(to: home.catalogue, options: .atomic)
    }

    private func edit(_ service: ClusterService, _ change: (inout [String: Any]) -> Void) throws {
        let file = home.settings(of: service)
        guard var settings = try JSONSerialization.jsonObject(with: Data(contentsOf: file)) as? [String: Any] else {
            throw ChaosFailure("\(file.path) is no JSON object")
        }
        change(&settings)
        try JSONSerialization.data(withJSONObject: settings, options: [.prettyPrinted, .sortedKeys]).write(to: file, options: .atomic)
    }

    var adminToken: String {
        get throws { try LocalPki(folder: home.pki).adminToken() }
    }

    func softwareStatement() async throws -> String {
        let statements = try await SoftwareStatements(addresses: ClusterAddresses(ports: ports), pki: LocalPki(folder: home.pki)).fetch()
        guard let statement = statements["acme-tv"] else { throw ChaosFailure("the catalogue has no application acme-tv") }
        return statement
    }

    // MARK: Processes

    func process(_ service: ClusterService) -> ServiceProcess? { state.withLock { $0[service] } }

    func isRunning(_ service: ClusterService) -> Bool { process(service)?.isRunning ?? false }

    func setCondition(_ condition: LaunchCondition, of service: ClusterService) { conditions.withLock { $0[service] = condition } }

    /// Starts a service and does not wait for it.
    func launch(_ service: ClusterService) throws {
        let condition = conditions.withLock { $0[service] ?? .plain }
        let binary = binaries.appendingPathComponent(service.rawValue)
        guard FileManager.default.isExecutableFile(atPath: binary.path) else { throw ChaosFailure("\(binary.path) is not built; build it first") }
        let arguments = ["--config", home.settings(of: service).path]
        let environment = service.environment.merging(condition.environment) { $1 }
        let words = condition.wrapper.map { $0 + [binary.path] + arguments }
        let process = try ServiceProcess.start(
            service, binary: words.map { URL(fileURLWithPath: $0[0]) } ?? binary, arguments: words.map { Array($0.dropFirst()) } ?? arguments,
            environment: environment, log: home.log(of: service))
        state.withLock { $0[service] = process }
    }

    /// Starts everything, and waits until all of it is ready.
    func start() async throws {
        for service in ClusterService.allCases { try launch(service) }
        for service in ClusterService.allCases { try await waitUntilReady(service) }
    }

    func waitUntilReady(_ service: ClusterService, within limit: Duration = .seconds(20)) async throws {
        let address = ClusterAddresses(ports: ports).readiness(of: service)
        try await Wait.until("\(service.rawValue) is ready (its log: \(home.log(of: service).path))", within: limit) {
            try self.requireRunning(service)
            var request = HTTPClientRequest(url: address)
            request.headers.add(name: "Connection", value: "close")
            return (try? await self.client.execute(request, timeout: .seconds(1)))?.status == .ok
        }
    }

    /// Waits until the service accepts connections again.
    /// - Returns: When it did.
    func waitUntilListening(_ service: ClusterService) async throws -> ContinuousClock.Instant {
        let port = ports.main(service)
        try await Wait.until("\(service.rawValue) listens", within: .seconds(20), every: .milliseconds(2)) {
            try self.requireRunning(service)
            return LoopbackPort.answers(port)
        }
        return .now
    }

    func signal(_ service: ClusterService, _ number: Int32) { process(service)?.signal(number) }

    /// - Parameter number: `SIGKILL` or `SIGTERM`.
    func end(_ service: ClusterService, _ number: Int32) async throws {
        guard let process = process(service) else { return }
        process.signal(number)
        try await Wait.until("\(service.rawValue) has ended", within: .seconds(15), every: .milliseconds(2)) { !process.isRunning }
    }

    /// - Returns: Those that had to be killed, or had ended before.
    func stop() async -> [String] {
        let processes = state.withLock { Array($0.values) }
        processes.forEach { $0.signal(SIGCONT) }
        let missing = processes.filter { !$0.isRunning }.map { "\($0.service.rawValue) had ended by itself" }
        let killed = await ClusterStopper.stop(processes)
        for proxy in proxies.values { await proxy.stop() }
        return missing + killed.map { "\($0.name) did not stop when asked to" }
    }

    func residentKiB(of service: ClusterService) -> Int? {
        guard let process = process(service), let status = try? String(contentsOfFile: "/proc/\(process.pid)/status", encoding: .utf8),
            let line = status.split(separator: "\n").first(where: { $0.hasPrefix("VmRSS:") })
        else { return nil }
        return line.split(separator: " ").dropFirst().first.flatMap { Int($0) }
    }

    private func requireRunning(_ service: ClusterService) throws {
        // A shell that sets a limit is not the program yet.
        guard let process = process(service), process.isRunning || kill(process.pid, 0) == 0 else {
            let lines = (try? String(contentsOf: home.log(of: service), encoding: .utf8))?.split(separator: "\n") ?? []
            throw ChaosFailure("\(service.rawValue) ended: \(lines.last.map(String.init) ?? "its log is empty")")
        }
    }
}
