import ArgumentParser
import CommandKit
import Foundation

/// The time and the processor that the bridge adds to the calls of a v2 service that answers in 20 ms (bridge §15.1). Beside it stand the same calls at
/// a direct MVPD, the HTTP client alone with the bridge's own calls, and that service itself: all at one rate.
struct BridgeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "bridge", abstract: "Measure calls through the bridge beside their parts, and beside those of direct MVPDs.",
        discussion: """
            The rate is 70 % of what the machine carries, with the stand-in upstream and the load on it, unless --rate says otherwise. Exit code 0 \
            when the goals hold, 1 when one does not, 2 when there was nothing to measure.
            """)

    /// The part of the rate that the machine carries.
    private static let share = 0.7

    @Option(help: "The load program `http-load`.")
    var load: String

    @Option(help: "Seconds of each run.")
    var seconds = 4.0

    @Option(help: "Rounds; medians count.")
    var rounds = 7

    @Option(help: "Calls a second. (default: 70 % of the media tokens through the bridge that the machine carries)")
    var rate: Int?

    @Option(help: "Keep-alive connections, each with one request in flight.")
    var connections = 64

    @Option(help: "Signed-in devices at each MVPD; a person gets one media token a second for the same play.")
    var devices = 512

    @Option(help: "Milliseconds in which the upstream answers.")
    var latency = 20

    @Option(help: "First port of the cluster that is started.")
    var portBase = 21_900

    func run() async throws { try await GatewayBenchmark.judge(measure) }

    private func measure() async throws -> Bool {
        let binaries = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
        let home = FileManager.default.temporaryDirectory.appending(path: "bridge-\(UUID().uuidString.prefix(8))")
        let cluster = try LocalCluster.start(binaries: binaries, home: home, portBase: portBase, people: devices)
        defer { cluster.stop() }
        try await cluster.waitForSandbox()
        let work = FileManager.default.temporaryDirectory.appending(path: "bridge-requests-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: work, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: work) }
        let client = HTTPExchange.makeClient()
        let rounds: BridgeRounds
        do {
            let bridge = BridgedCluster(cluster: cluster, exchange: HTTPExchange(client: client))
            let files = try await bridge.prepare(devices: devices, latency: latency, in: work)
            Report.machine(cores: ProcessInfo.processInfo.activeProcessorCount)
            rounds = try await measure(bridge, files)
        } catch {
            try await client.shutdown()
            throw error
        }
        try await client.shutdown()
        return rounds.report()
    }

    private func measure(_ bridge: BridgedCluster, _ files: BridgedCluster.Files) async throws -> BridgeRounds {
        let program = LoadProgram(path: load, connections: connections, seconds: seconds)
        let rate = try rate ?? carried(bridge, files, program)
        let runs = BridgeRuns(bridge: bridge, files: files, program: program, rate: rate)
        var taken = BridgeRounds(rate: rate)
        for round in 0...rounds {
            let measured = try await runs.round(round)
            // The first calls fill caches.
            if round > 0 { taken.rounds.append(measured) }
        }
        return taken
    }

    /// As many as come back with all connections at work.
    private func carried(_ bridge: BridgedCluster, _ files: BridgedCluster.Files, _ program: LoadProgram) throws -> Int {
        var rates: [Double] = []
        for _ in 0..<3 {
            let result = try program.run(port: bridge.cluster.port, status: 200, requests: files.called)
            guard result.unexpected * 50 <= result.calls else {
                throw BenchmarkFailure("\(result.unexpected) of \(result.calls) media tokens failed with all connections at work")
            }
            rates.append(result.callsPerSecond)
        }
        let carried = Spread(rates).median
        let rate = max(1, Int(carried * Self.share))
        Report.line(
            String(
                format: "The machine carries %.0f media tokens a second through the bridge, stand-in and load included; all is measured at %d.\n",
                carried, rate))
        return rate
    }
}
