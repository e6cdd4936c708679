internal import CommandKit
internal import Foundation
internal import LoadReporting

/// Whether the programs of the cluster work with a version of the catalogue yet.
enum CatalogueArrival {
    /// Waits until all programs that tell do so, at most 3 s: the next command may need the version.
    static func wait(for version: Int) async {
        let home = ClusterHome(environment: ProcessInfo.processInfo.environment, checkout: Checkout.current)
        guard let cluster = try? ClusterFile.required(home) else { return }
        let programs = cluster.services.values.flatMap { entry in [entry] + (entry.copies ?? []) }.compactMap(\.debug)
        try? await HTTPExchange.once { exchange in
            var exchange = exchange
            exchange.timeout = .seconds(1)
            let end = ContinuousClock.now + .seconds(3)
            for program in programs {
                while ContinuousClock.now < end {
                    guard let answer = try? await exchange.send("GET", "http://\(program)/metrics"), isBehind(answer.text, version) else { break }
                    try await Task.sleep(for: .milliseconds(50))
                }
            }
        }
    }

    /// - Parameter metrics: Of a program; where they do not tell a version, nobody waits for it.
    static func isBehind(_ metrics: String, _ version: Int) -> Bool {
        let sample = PrometheusText(metrics).samples.first {
            $0.name == "boxoffice_catalogue_version" || $0.name == "boxoffice_config_catalogue_version"
        }
        return sample.map { $0.value < Double(version) } ?? false
    }
}
