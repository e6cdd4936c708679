import ArgumentParser
import CommandKit
import Foundation

/// The cost of scheduled test sign-ins: the CPU of a cluster's services without and with a test user at each of many MVPDs.
struct ScheduleCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "schedule", abstract: "Measure what scheduled test sign-ins cost the services.",
        discussion: "Exit code 0 when the goal holds, 1 when it does not, 2 when there was nothing to measure.")

    /// The share of a core, for 300 a minute.
    private static let goal = 0.05
    /// Seconds from one sign-in at an MVPD to its next.
    private static let interval = 60.0

    @Option(help: "Seconds of each of the two measurements.")
    var seconds = 120.0

    @Option(help: "MVPDs with a test user, each tried once a minute.")
    var providers = 300

    @Option(help: "First port of the cluster that is started.")
    var portBase = 23_000

    func run() async throws { try await GatewayBenchmark.judge(measure) }

    private func measure() async throws -> Bool {
        let home = FileManager.default.temporaryDirectory.appending(path: "schedule-\(UUID().uuidString.prefix(8))")
        let names = (0..<providers).map { "Tested\($0)" }
        let cluster = try LocalCluster.start(
            binaries: URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent(), home: home, portBase: portBase, people: 1,
            providers: names)
        defer { cluster.stop() }
        try await cluster.waitForSandbox()
        Report.machine(cores: ProcessInfo.processInfo.activeProcessorCount)
        try cluster.changeCatalogue { try Self.try(names, false, in: &$0) }
        try await Task.sleep(for: .seconds(5))
        let without = try await shares(of: cluster)
        try cluster.changeCatalogue { try Self.try(names, true, in: &$0) }
        // First ones are spread over a minute.
        try await Task.sleep(for: .seconds(Self.interval + 10))
        let with = try await shares(of: cluster)
        let succeeded = try await succeeded(names, at: cluster)
        Report.line("| Service | of a core without, % | with \(providers) sign-ins a minute, % | more, % |\n|---|---|---|---|")
        var more = 0.0
        for name in with.keys.sorted() {
            let (before, after) = (without[name] ?? 0, with[name] ?? 0)
            more += after - before
            Report.line(String(format: "| %@ | %.2f | %.2f | %.2f |", name, before * 100, after * 100, (after - before) * 100))
        }
        let isMet = more * 300 / Double(providers) <= Self.goal
        let cost = more * Self.interval / Double(providers) * 1000
        Report.line(
            String(
                format:
                    "\nTogether %.2f %% of a core, %.2f ms for a sign-in of four steps; goal %.0f %% for 300 a minute: %@. The latest of %d succeeded.",
                more * 100, cost, Self.goal * 100, isMet ? "met" : "missed", succeeded))
        return isMet
    }

    /// The part of a core that each service takes.
    private func shares(of cluster: LocalCluster) async throws -> [String: Double] {
        let before = ProcessTimes(cluster.processes)
        let start = ContinuousClock.now
        try await Task.sleep(for: .seconds(seconds))
        let wall = start.duration(to: .now) / .seconds(1)
        return ProcessTimes(cluster.processes).spent(since: before).mapValues { $0 / wall }
    }

    /// - Throws: `BenchmarkFailure` when one of them has not signed in within its interval.
    private func succeeded(_ names: [String], at cluster: LocalCluster) async throws -> Int {
        let client = HTTPExchange.makeClient()
        let outcome: Result<[String: Any], any Error>
        do {
            outcome = .success(try await cluster.administer("GET", "/scheduled-sign-ins", by: HTTPExchange(client: client)))
        } catch {
            outcome = .failure(error)
        }
        try await client.shutdown()
        let states = try outcome.get()["scheduledSignIns"] as? [[String: Any]] ?? []
        let since = (Date().timeIntervalSince1970 - Self.interval - 10) * 1000
        let good = Set(
            states.filter { $0["result"] as? String == "succeeded" && $0["endedAt"] as? Double ?? 0 > since }.compactMap { $0["mvpd"] as? String })
        let missing = names.filter { !good.contains($0) }
        guard missing.isEmpty else { throw BenchmarkFailure("\(missing.count) of \(names.count) did not sign in lately, such as \(missing[0])") }
        return names.count
    }

    private static func `try`(_ names: [String], _ isOn: Bool, in catalogue: inout [String: Any]) throws {
        guard let mvpds = catalogue["mvpds"] as? [[String: Any]] else { throw BenchmarkFailure("the catalogue has no MVPDs") }
        let tested = Set(names)
        catalogue["mvpds"] = mvpds.map { entry in
            // Those of the demo are not counted.
            guard var test = entry["testSignIn"] as? [String: Any] else { return entry }
            test["enabled"] = isOn && tested.contains(entry["id"] as? String ?? "")
            return entry.merging(["testSignIn": test]) { $1 }
        }
    }
}
