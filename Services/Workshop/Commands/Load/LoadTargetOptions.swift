internal import ArgumentParser
internal import ClusterCommands
internal import LoadTool

/// The service to call, and the identity of the caller.
struct LoadTargetOptions: ParsableArguments {
    @OptionGroup var peer: PeerOptions

    @Option(help: "The service's Prometheus metrics for the report: http://host:port/metrics. (default: the local cluster's)")
    var metrics: String?

    @Flag(help: "Start the service for this run and play its peers; nothing else has to run.")
    var isolated = false

    @OptionGroup var doubles: DoubleOptions

    @Option(help: "Devices that the calls come from. (default: 50; where each call takes a media token as many as may, at one a second each)")
    var devices: Int?

    func validate() throws { try doubles.check() }

    /// - Throws: `BadOption` when --isolated is combined with an option for a running service.
    func checkIsolation(_ http: HttpOptions) throws {
        guard isolated else { return }
        if let other = peer.given.first {
            throw BadOption("--isolated and \(other)", "--isolated starts a service of its own: leave one of them out")
        }
        if http.scenario != nil {
            throw BadOption("--isolated and --scenario", "a scenario needs MVPDs: start a cluster with 'boxoffice up', or give the gateway a --path")
        }
    }
}
