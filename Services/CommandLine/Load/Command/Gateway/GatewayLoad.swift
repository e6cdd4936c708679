internal import Foundation
internal import LoadTool

/// Load on the gateway over HTTP.
struct GatewayLoad {
    let target: LoadTargetOptions
    let cluster: ClusterFile?
    let home: ClusterHome

    /// - Parameters:
    ///   - name: Of the scenario.
    ///   - api: That its apps call.
    /// - Throws: `BadOption` for an unknown scenario, or one that the API has not, `CommandFailure` when the preparation fails.
    func prepare(
        _ name: String, api: String, plan: RunPlan, progress: @escaping @Sendable (String, Int, Int) -> Void
    ) async throws -> LoadPreparation.Prepared {
        guard let scenario = GatewayScenario(rawValue: name) else { throw BadOption("--scenario \(name)", "give \(GatewayScenario.names)") }
        guard let api = GatewayScenario.Api(rawValue: api) else { throw BadOption("--api \(api)", "give v1 or v2") }
        guard scenario.isOf(api) else { throw BadOption("--api v2 and --scenario \(name)", "only apps of the past do so") }
        guard let cluster else {
            throw CommandFailure(
                "no cluster runs in \(home.root.path)",
                advice: "start one with ./Services/up; the scenarios use its software statements, its catalogue and the keys of its stand-in MVPD",
                exit: .unreachable)
        }
        guard cluster.lan == nil else {
            throw CommandFailure(
                "the cluster in \(home.root.path) is open to its network, and its gateway signs people in over HTTPS alone",
                advice: "stop it with ./Services/down and start it without --lan; the scenarios use plain HTTP", exit: .usage)
        }
        let gateway = target.peer.address.map { $0.contains("://") ? $0 : "http://\($0)" } ?? cluster.gateway
        guard let parts = URLComponents(string: gateway), let host = parts.host, let port = parts.port, parts.scheme == "http" else {
            throw BadOption("--address '\(target.peer.address ?? gateway)'", "give host:port of the gateway's HTTP listener")
        }
        var exchange = HTTPExchange(client: HTTPExchange.makeClient(connections: 24))
        // A load that ended just before may still affect the service.
        exchange.patience = .seconds(20)
        let preparation = GatewayPreparation(
            exchange: exchange, gateway: gateway, cluster: cluster, pki: home.pki, scenario: scenario, api: api,
            deviceCount: target.devices ?? DeviceCount.forMediaTokens(plan))
        let outcome = await Result { try await preparation.prepare(progress: progress) }
        try await exchange.client.shutdown()
        let ground = try outcome.get()
        let load = HttpLoad(HttpTarget(host: host, port: port), plan: plan) { worker, workers in
            scenario.workload(ground, worker: worker, workers: workers)
        }
        return LoadPreparation.Prepared(
            load: load, service: .gateway, targets: ["\(host):\(port)"], workload: api == .v1 ? scenario.rawValue : "\(scenario.rawValue) (REST v2)")
    }
}
