import ArgumentParser
import Foundation

/// Measures each operation beside the bare server, in turns, and prints the ratios.
struct RunCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run", abstract: "Measure a cluster through its gateway.",
        discussion: "Exit code 0 when every goal holds, 1 when one does not, 2 when there was nothing to measure.")

    @Option(help: "The load program `http-load`.")
    var load: String

    @Option(help: "Seconds of each run.")
    var seconds = 2.0

    @Option(help: "Rounds of each operation; the median ratio counts.")
    var rounds = 7

    @Option(help: "Keep-alive connections, each with one request in flight.")
    var connections = 64

    @Option(help: "Signed-in devices at a requestor.")
    var devices = 1024

    @Option(help: "Only operations whose name contains this.")
    var only: String?

    @Option(help: "BOXOFFICE_HOME of a running cluster; default: one is started and removed. Its requestor ACME2 must have JWS media tokens.")
    var home: String?

    @Option(help: "First port of the cluster that is started.")
    var portBase = 21_400

    func run() async throws { try await GatewayBenchmark.judge(measure) }

    private func measure() async throws -> Bool {
        let cluster = try openCluster()
        defer { cluster.stop() }
        let work = FileManager.default.temporaryDirectory.appending(path: "gateway-benchmark-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: work, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: work) }
        let hello = try ChildProgram(CommandLine.arguments[0], ["hello"])
        defer { hello.stop() }
        guard let helloPort = Int(hello.line()) else { throw BenchmarkFailure("the bare server did not start") }
        let bench = Bench(
            cluster: cluster, load: LoadProgram(path: load, connections: connections, seconds: seconds), work: work, helloPort: helloPort)

        Report.machine(cores: bench.cores)
        try bench.prepare()
        Report.ceiling(try bench.ceiling())
        Report.sync(try SyncCost(folder: cluster.dataFolder), connections: connections)
        let comparisons = try await compare(bench)
        Report.line("\nMicroseconds of CPU per call, by process:\n")
        comparisons.forEach(Report.cost)
        return comparisons.allSatisfy(\.isMet) && Report.successions(comparisons)
    }

    private func compare(_ bench: Bench) async throws -> [Comparison] {
        try await bench.cluster.waitForSandbox()
        let fleets = try await fleets(bench.cluster)
        let waiting = try await fleets.reference.waiting(devices, cluster: bench.cluster)
        let scenarios = Scenario.all(reference: fleets.reference, jws: fleets.jws, waiting: waiting).filter {
            only == nil || $0.name.contains(only ?? "")
        }
        Report.header()
        var comparisons: [Comparison] = []
        for scenario in scenarios {
            let comparison = try await bench.compare(scenario, rounds: rounds)
            Report.row(comparison)
            comparisons.append(comparison)
        }
        return comparisons
    }

    private func openCluster() throws -> LocalCluster {
        if let home { return try LocalCluster(home: URL(fileURLWithPath: home)) }
        let binaries = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
        let home = FileManager.default.temporaryDirectory.appending(path: "gateway-benchmark-home-\(UUID().uuidString.prefix(8))")
        return try LocalCluster.start(binaries: binaries, home: home, portBase: portBase, people: devices)
    }

    private func fleets(_ cluster: LocalCluster) async throws -> (reference: Fleet, jws: Fleet) {
        let reference = try await Fleet.signIn(
            devices, at: "ACME1", domain: "acme.example", resources: ["ACME1-NEWS", "ACME1-SPORT", "ACME1-KIDS"], cluster: cluster, series: 1,
            optsIn: true)
        let jws = try await Fleet.signIn(
            devices / 2, at: LocalCluster.jwsRequestor, domain: "acme-two.example", resources: ["ACME2-MOVIES"], cluster: cluster, series: 2)
        return (reference, jws)
    }
}
