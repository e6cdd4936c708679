internal import ArgumentParser
internal import Foundation

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

    @Option(help: "Devices that the calls come from.")
    var devices = 50

    init() {}

    var clusterHome: ClusterHome {
        home.map { ClusterHome(root: URL(fileURLWithPath: $0)) }
            ?? ClusterHome(environment: ProcessInfo.processInfo.environment, checkout: Checkout.current)
    }
}
