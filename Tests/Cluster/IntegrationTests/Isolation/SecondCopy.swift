@testable import ClusterCommands
@testable import CommandKit
import Foundation
import Testing

/// A second process of a service of the cluster, with its settings but for what a test changes, and ports of its own.
struct SecondCopy {
    let process: ServiceProcess
    let service: ClusterService
    let cluster: TestCluster
    /// The address of its RPC listener, `host:port`.
    let address: String
    private let debugPort: Int
    private let log: URL

    /// - Parameters:
    ///   - data: Its data folder; `nil`: the cluster's.
    ///   - change: Changes the settings.
    static func start(
        _ service: ClusterService, of cluster: TestCluster, data: URL? = nil, _ change: (inout [String: Any]) throws -> Void = { _ in }
    ) throws -> SecondCopy {
        let base = try FreePorts.base()
        var settings = try cluster.settings(of: service)
        settings["listen"] = ["address": "127.0.0.1", "port": base]
        settings["debug"] = ["address": "127.0.0.1", "port": base + 1]
        if let data { settings["data"] = data.path }
        try change(&settings)
        let file = cluster.home.settings(of: service).deletingLastPathComponent().appendingPathComponent("\(service.rawValue)-\(base).json")
        try JSONSerialization.data(withJSONObject: settings).write(to: file)
        let log = cluster.home.root.appendingPathComponent("\(service.rawValue)-\(base).log")
        let process = try ServiceProcess.start(
            service, binary: cluster.starter.binaries.appendingPathComponent(service.rawValue), arguments: ["--config", file.path],
            environment: service.environment.merging(cluster.clock?.environment ?? [:]) { $1 }, log: log)
        return SecondCopy(process: process, service: service, cluster: cluster, address: "127.0.0.1:\(base)", debugPort: base + 1, log: log)
    }

    /// A second gateway of the cluster, over plain HTTP alone.
    /// - Returns: The copy, which is ready, and the address at which it serves apps.
    static func gateway(of cluster: TestCluster) async throws -> (copy: SecondCopy, address: String) {
        let base = try FreePorts.base()
        let copy = try start(.gateway, of: cluster, data: cluster.home.root.appendingPathComponent("second-gateway")) { settings in
            var own = try #require(settings["gateway"] as? [String: Any])
            var admin = own["admin"] as? [String: Any] ?? [:]
            (own["listen"], admin["listen"], own["tls"]) = ("127.0.0.1:\(base)", "127.0.0.1:\(base + 1)", nil)
            own["admin"] = admin
            (settings["gateway"], settings["listen"]) = (own, nil)
        }
        try await Condition.wait("the second gateway is ready") { await copy.readiness().isReady }
        return (copy, "http://127.0.0.1:\(base)")
    }

    /// Its output.
    var output: String { (try? String(contentsOf: log, encoding: .utf8)) ?? "" }

    /// True when it can work, and why not.
    func readiness() async -> (isReady: Bool, text: String) {
        guard let answer = try? await cluster.exchange.send("GET", "http://127.0.0.1:\(debugPort)/readyz") else { return (false, "") }
        return (answer.status == 200, answer.text)
    }

    /// Calls of a method of an RPC service that it has answered.
    func calls(of name: String) async throws -> Double {
        let text = try await cluster.exchange.send("GET", "http://127.0.0.1:\(debugPort)/metrics").text
        let lines = text.split(separator: "\n").filter { $0.hasPrefix("boxoffice_rpc_server_calls_total{") && $0.contains(name) }
        return lines.compactMap { $0.split(separator: " ").last.flatMap { Double($0) } }.reduce(0, +)
    }

    func stop() async { _ = await ClusterStopper.stop([process]) }
}

extension TestCluster {
    func settings(of service: ClusterService) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(contentsOf: home.settings(of: service))) as? [String: Any])
    }

    /// Starts a service again with changed settings.
    func restart(_ service: ClusterService, _ change: (inout [String: Any]) throws -> Void = { _ in }) async throws {
        var settings = try settings(of: service)
        try change(&settings)
        try JSONSerialization.data(withJSONObject: settings).write(to: home.settings(of: service))
        _ = await ClusterStopper.stop([try process(service)])
        _ = try await starter.start()
    }
}

extension [String: Any] {
    /// Where the program of these settings finds a peer.
    mutating func setAddresses(of peer: String, _ addresses: [String]) throws {
        var peers = try #require(self["peers"] as? [String: Any])
        var entry = try #require(peers[peer] as? [String: Any])
        entry["addresses"] = addresses
        peers[peer] = entry
        self["peers"] = peers
    }
}
