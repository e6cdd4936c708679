internal import CommandKit
internal import LoadTool

/// Load on the gateway over HTTP or HTTPS.
struct GatewayLoad {
    let target: LoadTargetOptions
    let http: HttpOptions
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
        guard !http.insecure else { throw BadOption("--insecure and --scenario", "name the authority of the gateway's certificate with --ca") }
        // Whatever its address: it is this cluster's gateway.
        var peer = target.peer
        peer.ca = peer.ca ?? cluster.pki.ca
        let base = try HttpBase(peer, http: http, cluster)
        var exchange = HTTPExchange(client: HTTPExchange.makeClient(connections: 24, trusting: base.target.tls == nil ? nil : base.authority))
        // A load that ended just before may still affect the service.
        exchange.patience = .seconds(20)
        let preparation = GatewayPreparation(
            exchange: exchange, gateway: base.url, cluster: cluster, pki: home.pki, scenario: scenario, api: api,
            deviceCount: target.devices ?? DeviceCount.forMediaTokens(plan))
        let outcome = await Result { try await preparation.prepare(progress: progress) }
        try await exchange.client.shutdown()
        let ground = try outcome.get()
        let load = HttpLoad(base.target, plan: plan) { worker, workers in
            scenario.workload(ground, worker: worker, workers: workers)
        }
        return LoadPreparation.Prepared(
            load: load, service: .gateway, targets: [base.target.tls == nil ? base.host : base.url],
            workload: api == .v1 ? scenario.rawValue : "\(scenario.rawValue) (REST v2)")
    }
}
