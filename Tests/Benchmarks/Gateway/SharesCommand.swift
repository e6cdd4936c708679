import ArgumentParser
import Foundation
import GatewayEdge

/// The cost of the limits by application and requestor for each request: at most a microsecond.
struct SharesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "shares", abstract: "Measures the limits by application and requestor.")
    private static let goal = 1000.0

    @Option(help: "How many calls a round has.")
    var calls = 1_000_000

    func run() async throws {
        try await GatewayBenchmark.judge {
            let probe = ShareProbe(bearers: 50_000, applications: 500)
            var rounds: [Double] = []
            for _ in 0..<7 {
                let start = ContinuousClock.now
                let passed = probe.call(calls)
                rounds.append((ContinuousClock.now - start) / .nanoseconds(1) / Double(calls))
                guard passed > 0 else { throw BenchmarkFailure("no call passed") }
            }
            let median = rounds.sorted()[rounds.count / 2]
            print(
                String(format: "shares  median %.0f ns a call  goal at most %.0f ns  %@", median, Self.goal, median <= Self.goal ? "met" : "missed"))
            return median <= Self.goal
        }
    }
}
