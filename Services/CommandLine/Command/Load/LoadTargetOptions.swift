internal import ArgumentParser
internal import Foundation
internal import LoadTool

/// Whom to call, and as whom.
struct LoadTargetOptions: ParsableArguments {
    @Option(help: "host:port of the service instead of the local cluster's; several copies with commas between them.")
    var address: String?

    @Option(help: "Name in the service's certificate. (default: SERVICE.boxoffice)")
    var peerName: String?

    @Option(help: "The tool's certificate, PEM. (default: the local cluster's operator)")
    var certificate: String?

    @Option(help: "Its key, PEM.")
    var key: String?

    @Option(help: "The authority of the service's certificate, PEM.")
    var ca: String?

    @Option(help: "The service's Prometheus metrics for the report: http://host:port/metrics. (default: the local cluster's)")
    var metrics: String?

    @Option(help: "Folder of the cluster. (default: BOXOFFICE_HOME, or .boxoffice in the checkout)")
    var home: String?

    @Flag(help: "Start the service for this run and play its peers; nothing else has to run.")
    var isolated = false

    @OptionGroup var doubles: DoubleOptions

    @Option(help: "Devices that the calls come from.")
    var devices = 50

    init() {}

    func validate() throws { try doubles.check() }

    /// - Throws: `BadOption` when --isolated stands beside what tells of a service that runs already.
    func checkIsolation(_ http: HttpOptions) throws {
        let others = [
            ("--address", address), ("--peer-name", peerName), ("--certificate", certificate), ("--key", key), ("--ca", ca), ("--home", home),
        ]
        guard isolated else { return }
        if let other = others.first(where: { $0.1 != nil }) {
            throw BadOption("--isolated and \(other.0)", "--isolated starts a service of its own: leave one of them out")
        }
        if http.scenario != nil {
            throw BadOption("--isolated and --scenario", "a scenario needs MVPDs: start a cluster with 'boxoffice up', or give the gateway a --path")
        }
    }

    var clusterHome: ClusterHome {
        home.map { ClusterHome(root: URL(fileURLWithPath: $0)) }
            ?? ClusterHome(environment: ProcessInfo.processInfo.environment, checkout: Checkout.current)
    }
}
