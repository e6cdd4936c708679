internal import CommandKit
internal import Foundation
internal import LoadReporting
internal import Simulation

/// Looks at the service, its peers and the tool itself while the load runs.
struct LoadWatch: Sendable {
    private let observer: Observer
    private let exchange: HTTPExchange
    /// Of the service, as its metrics tell.
    let serviceBuild: ServiceBuild

    /// Takes the first sample.
    static func start(_ prepared: LoadPreparation.Prepared, _ options: LoadTargetOptions) async -> LoadWatch {
        let target = ObservationTarget.find(
            service: prepared.service.rawValue, address: prepared.targets.first ?? "", metricsURL: options.metrics,
            cluster: try? ClusterFile.read(options.peer.clusterHome))
        var exchange = HTTPExchange(client: HTTPExchange.makeClient(connections: 1))
        exchange.timeout = .seconds(2)
        let observer = Observer(metricsURL: target.metricsURL, processes: target.processes, remarks: target.remarks) { [exchange] url in
            let answer = try await exchange.send("GET", url)
            guard answer.status == 200 else { throw CommandFailure("it was answered \(answer.status)") }
            return answer.text
        }
        await observer.start()
        return LoadWatch(observer: observer, exchange: exchange, serviceBuild: await exchange.build(metricsURL: target.metricsURL))
    }

    /// The measured part begins at that moment, which may lie ahead.
    func begins(at moment: ContinuousClock.Instant) {
        Task { await observer.begins(at: moment) }
    }

    /// Takes the last sample.
    func stop() async -> Observation {
        let observation = await observer.stop()
        try? await exchange.client.shutdown()
        return observation
    }
}
