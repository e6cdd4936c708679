import ArgumentParser
import Foundation

/// Measures decisions at two MVPDs while a third one's decision point answers, and while it hangs, in turns (mvpd §4.3).
struct HangingProviderCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "hanging-provider", abstract: "Measure what a decision point that hangs does to the others.",
        discussion: "Exit code 0 when the p99 of each other MVPD rises by less than a fifth, 1 when it does not, 2 when nothing was measured.")

    /// Two MVPDs of the demo catalogue: one is asked in JSON, the other in SOAP.
    private static let observed = ["NorthCable", "LakeTel"]
    private static let hanging = "SlowTV"
    /// The rise of the p99 that is allowed.
    private static let goal = 1.2

    @Option(help: "Seconds of each run.")
    var seconds = 8.0

    @Option(help: "Rounds; the median ratio counts.")
    var rounds = 7

    @Option(help: "Signed-in devices at each MVPD, each with one decision at a time.")
    var workers = 16

    @Option(help: "Milliseconds from one decision of a device to its next.")
    var period = 200

    @Option(help: "First port of the cluster that is started.")
    var portBase = 21_600

    func run() async throws { try await GatewayBenchmark.judge(measure) }

    private func measure() async throws -> Bool {
        let binaries = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
        let home = FileManager.default.temporaryDirectory.appending(path: "gateway-benchmark-home-\(UUID().uuidString.prefix(8))")
        let cluster = try LocalCluster.start(binaries: binaries, home: home, portBase: portBase, people: workers, providers: [Self.hanging])
        defer { cluster.stop() }
        try await cluster.waitForSandbox()
        let load = try await DecisionLoad(cluster, mvpds: Self.observed + [Self.hanging], workers: workers, period: .milliseconds(period))
        let outcome: Result<[Round], any Error>
        do { outcome = .success(try await measure(load)) } catch { outcome = .failure(error) }
        try await load.shutdown()
        return report(try outcome.get())
    }

    /// The p99 of each observed MVPD, in microseconds.
    private struct Round {
        let calm: [String: Double]
        let hanging: [String: Double]
        let stuck: Int
    }

    private func measure(_ load: DecisionLoad) async throws -> [Round] {
        let span = Duration.seconds(seconds)
        // The first calls of a process fill its caches.
        _ = try await load.run(for: .seconds(min(seconds, 3)))
        var taken: [Round] = []
        for _ in 0..<rounds {
            let calm = try await load.run(for: span)
            try await load.hang(Self.hanging, true)
            let hanging = try await load.run(for: span)
            try await load.hang(Self.hanging, false)
            // The breaker is open for 15 s; then probes close it.
            try await load.recover(Self.hanging)
            taken.append(
                Round(
                    calm: calm.compactMapValues { $0.percentile(99) }, hanging: hanging.compactMapValues { $0.percentile(99) },
                    stuck: hanging[Self.hanging]?.failures ?? 0))
        }
        return taken
    }

    private func report(_ rounds: [Round]) -> Bool {
        Report.machine(cores: ProcessInfo.processInfo.activeProcessorCount)
        Report.line("| MVPD | p99 µs, all answer | p99 µs, \(Self.hanging) hangs | ratio | goal |\n|---|---|---|---|---|")
        var isMet = true
        for mvpd in Self.observed {
            let (calm, hanging) = (Spread(rounds.compactMap { $0.calm[mvpd] }), Spread(rounds.compactMap { $0.hanging[mvpd] }))
            let ratio = Spread(rounds.compactMap { round in round.calm[mvpd].flatMap { calm in round.hanging[mvpd].map { $0 / calm } } })
            let meets = ratio.median < Self.goal
            isMet = isMet && meets
            Report.line(
                String(
                    format: "| %@ | %.0f | %.0f | %.2f (%.2f–%.2f) | below %.1f %@ |", mvpd, calm.median, hanging.median, ratio.median, ratio.least,
                    ratio.most, Self.goal, meets ? "met" : "missed"))
        }
        Report.line(String(format: "\nDecisions at %@ that failed per run: %.0f.", Self.hanging, Spread(rounds.map { Double($0.stuck) }).median))
        return isMet
    }
}
