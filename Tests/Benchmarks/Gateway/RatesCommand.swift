import ArgumentParser
import Foundation

/// The cost of a poll at the rates where a cluster runs, which are far below its capacity. The same calls go through nginx in front of nginx.
struct RatesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rates", abstract: "Measure polls at fixed rates beside nginx in front of nginx.",
        discussion: "Exit code 0 when the goal holds, 1 when it does not, 2 when there was nothing to measure.")

    /// Calls per second at which the goal is.
    private static let goalRate = 600
    /// To nginx's: of the CPU per call, and of the median.
    private static let goal = (cost: 2.2, median: 1.6)

    @Option(help: "The load program `http-load`.")
    var load: String

    @Option(help: "Seconds of each run.")
    var seconds = 3.0

    @Option(help: "Pairs of runs at each rate; the median ratio counts.")
    var rounds = 30

    @Option(help: "Keep-alive connections.")
    var connections = 64

    @Option(help: "Devices that wait for a sign-in.")
    var devices = 256

    @Option(parsing: .upToNextOption, help: "Calls per second.")
    var rates = [100, 600, 3000]

    @Option(help: "First port of the cluster that is started; nginx has two some way behind it.")
    var portBase = 21_400

    /// One run of either side.
    private struct Run {
        /// Microseconds of CPU per call by process.
        var costs: [String: Double]
        var p50: Double
        var unexpected: Int

        var cost: Double { costs.values.reduce(0, +) }
    }

    private struct Pair {
        var cluster: Run
        var nginx: Run
    }

    func run() async throws { try await GatewayBenchmark.judge(measure) }

    private func measure() async throws -> Bool {
        let binaries = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
        let work = FileManager.default.temporaryDirectory.appending(path: "rates-\(UUID().uuidString.prefix(8))")
        let cluster = try LocalCluster.start(binaries: binaries, home: work.appending(path: "home"), portBase: portBase, people: 1)
        defer { try? FileManager.default.removeItem(at: work) }
        defer { cluster.stop() }
        try await cluster.waitForSandbox()
        let nginx = try NginxPair(folder: work, port: portBase + 90)
        defer { nginx.stop() }
        let requests = try await polls(cluster, work)
        Report.machine(cores: ProcessInfo.processInfo.activeProcessorCount)
        let columns = [
            "µs of CPU: gateway, authentication", "nginx: front, back", "ratio (quartiles)", "median, µs", "nginx", "ratio (quartiles)", "goal",
        ]
        Report.line("| calls/s | \(columns.joined(separator: " | ")) |")
        Report.line("|---|---|---|---|---|---|---|---|")
        let ours = cluster.processes.filter { ["gateway", "authentication"].contains($0.key) }
        var isMet = true
        for rate in rates {
            // The first runs of a process fill its caches.
            let pairs = try (0...rounds).map { round in
                // Each comes first as often as the other.
                let early = round % 2 == 0 ? try run(ours, cluster.port, rate, requests) : nil
                let theirs = try run(nginx.processes, nginx.port, rate, requests)
                return Pair(cluster: try early ?? run(ours, cluster.port, rate, requests), nginx: theirs)
            }.dropFirst()
            isMet = report(rate, Array(pairs)) && isMet
        }
        return isMet
    }

    /// As apps ask while somebody types the code: nobody has signed in yet.
    private func polls(_ cluster: LocalCluster, _ work: URL) async throws -> URL {
        let signedIn = try await Fleet.signIn(
            4, at: "ACME1", domain: "acme.example", resources: ["ACME1-NEWS"], cluster: cluster, series: 5)
        let requests = work.appending(path: "polls.requests")
        try Scenario.checks(try await signedIn.waiting(devices, cluster: cluster)).write(to: requests)
        return requests
    }

    private func run(_ processes: [String: Int32], _ port: Int, _ rate: Int, _ requests: URL) throws -> Run {
        let load = LoadProgram(path: load, connections: connections, seconds: seconds)
        let before = ProcessTimes(processes)
        let pace = try load.pace(port: port, rate: rate, status: NginxPair.status, requests: requests)
        let spent = ProcessTimes(processes).spent(since: before)
        return Run(costs: spent.mapValues { $0 * 1e6 / Double(pace.calls) }, p50: pace.p50, unexpected: pace.unexpected)
    }

    /// - Returns: True when the goal holds where there is one.
    private func report(_ rate: Int, _ pairs: [Pair]) -> Bool {
        let costs = Spread(pairs.map { $0.cluster.cost / $0.nginx.cost })
        let medians = Spread(pairs.map { $0.cluster.p50 / $0.nginx.p50 })
        let unexpected = pairs.map { $0.cluster.unexpected + $0.nginx.unexpected }.reduce(0, +)
        let isMet = costs.median <= Self.goal.cost && medians.median <= Self.goal.median && unexpected == 0
        var goal = ""
        if rate == Self.goalRate { goal = "at most \(Self.goal.cost) and \(Self.goal.median): " + (isMet ? "met" : "missed") }
        if unexpected > 0 { goal += " \(unexpected) wrong answers" }
        let cells = [
            "\(rate)", text(pairs.map(\.cluster), ["gateway", "authentication"]), text(pairs.map(\.nginx), ["front", "back"]), text(costs),
            String(format: "%.0f", Spread(pairs.map(\.cluster.p50)).median), String(format: "%.0f", Spread(pairs.map(\.nginx.p50)).median),
            text(medians),
            goal,
        ]
        Report.line("| " + cells.joined(separator: " | ") + " |")
        return rate == Self.goalRate ? isMet : unexpected == 0
    }

    private func text(_ runs: [Run], _ processes: [String]) -> String {
        let parts = processes.map { name in String(format: "%.0f", Spread(runs.map { $0.costs[name] ?? 0 }).median) }
        return String(format: "%.0f: ", Spread(runs.map(\.cost)).median) + parts.joined(separator: ", ")
    }

    private func text(_ ratios: Spread) -> String {
        String(format: "%.2f (%.2f–%.2f)", ratios.median, ratios.quartiles.lower, ratios.quartiles.upper)
    }
}
