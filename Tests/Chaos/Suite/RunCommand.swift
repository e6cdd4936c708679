import ArgumentParser
import Foundation

/// `chaos run`: starts a cluster, breaks it, stops it.
struct RunCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run", abstract: "Run experiments on a cluster of its own.",
        discussion: "Exits with 0 when each fault stayed within its budget and nothing that was acknowledged is lost.")

    @Option(help: "Folder of the services' programs; default: that of this program.")
    var binaries: String?

    @Option(help: "The source tree with the documented settings; default: the current folder.")
    var checkout = FileManager.default.currentDirectoryPath

    @Option(help: "Only experiments whose name begins with this; may be given several times.")
    var only: [String] = []

    @Option(help: "Stories of the load per second; a story is one to eight requests.")
    var rate = 60.0

    @Option(name: .customLong("port-base"), help: "The first of 40 ports; default: free ones.")
    var portBase: Int?

    @Option(help: "The load program `http-load` (Tests/Benchmarks/CHttp), for the overloads.")
    var load: String?

    @Flag(help: "More rounds, longer faults, all orders of restarts.")
    var long = false

    @Flag(help: "Leave the cluster's folder with its logs behind.")
    var keep = false

    func validate() throws {
        guard rate > 0 else { throw ValidationError("--rate must be above 0") }
    }

    func run() async throws {
        let reporter = Reporter()
        let chosen = FaultCatalogue.experiments(isLong: long).filter { experiment in only.isEmpty || only.contains { experiment.name.hasPrefix($0) } }
        let overloads = OverloadSubject.allCases.filter { subject in only.isEmpty ? long : only.contains { subject.name.hasPrefix($0) } }
        guard !chosen.isEmpty || !overloads.isEmpty else { throw ChaosFailure("no experiment has such a name; 'chaos list' names them") }
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("boxoffice-chaos-\(UUID().uuidString.prefix(8))")
        let client = Caller.makeClient()
        let cluster = try await ChaosCluster(
            folder: folder, base: try portBase ?? LoopbackPort.freeBase(count: 40), binaries: programs, checkout: URL(fileURLWithPath: checkout),
            client: client)
        let outcome: Result<(passed: Int, failed: Int), any Error>
        do {
            try await cluster.start()
            reporter.line("cluster at \(cluster.gateway), state and logs in \(folder.path)")
            outcome = .success(
                try await Suite(
                    cluster: cluster, client: client, reporter: reporter, rate: rate, isLong: long, loadProgram: load.map { URL(fileURLWithPath: $0) }
                ).run(chosen, overloads: overloads))
        } catch {
            outcome = .failure(error)
        }
        let unwilling = await cluster.stop()
        unwilling.forEach { reporter.line("FAIL  \($0)") }
        try await client.shutdown()
        let (passed, failed) = try outcome.get()
        reporter.line("\(passed) passed, \(failed + unwilling.count) failed")
        if failed + unwilling.count > 0 {
            reporter.line("logs: \(cluster.home.logs.path)")
            throw ExitCode(1)
        }
        if !keep { try? FileManager.default.removeItem(at: folder) }
    }

    private var programs: URL { binaries.map { URL(fileURLWithPath: $0) } ?? Self.ownFolder }

    /// The folder that this program is in.
    static var ownFolder: URL {
        let program = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? CommandLine.arguments[0]
        return URL(fileURLWithPath: program).deletingLastPathComponent()
    }
}
