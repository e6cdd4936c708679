import ArgumentParser
import AsyncHTTPClient
import ClusterCommands
import Foundation

/// `chaos hosts`: two hosts over one PostgreSQL with two standbys.
struct HostsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "hosts", abstract: "Break hosts and database of a cluster of two hosts over PostgreSQL.",
        discussion: """
            The hosts are network namespaces, which only root can make; PostgreSQL must be installed. Exits with 0 when each fault stayed within its budget and nothing \
            that was acknowledged is lost, and with 77 when it cannot run here, which it says.
            """)

    @Option(help: "Folder of the services' programs; default: that of this program.")
    var binaries: String?

    @Option(help: "Folder of the programs of the release before, for the upgrade.")
    var former: String?

    @Option(help: "The source tree with the documented settings; default: the current folder.")
    var checkout = FileManager.default.currentDirectoryPath

    @Option(help: "Only faults whose name begins with this; may be given several times.")
    var only: [String] = []

    @Option(help: "Stories of the load per second; a story is one to eight requests.")
    var rate = 30.0

    @Flag(help: "Also faults that take minutes.")
    var long = false

    @Flag(help: "Leave the folder with settings and logs behind.")
    var keep = false

    func validate() throws {
        guard rate > 0 else { throw ValidationError("--rate must be above 0") }
    }

    func run() async throws {
        let reporter = Reporter()
        if let obstacle = HostNetwork.obstacle() ?? DatabaseServers.obstacle() {
            reporter.line("--    two hosts: not run: \(obstacle)")
            throw ExitCode(77)
        }
        let chosen = HostFaults.all.filter { fault in only.isEmpty || only.contains { fault.name.hasPrefix($0) } }
        guard !chosen.isEmpty else { throw ChaosFailure("no fault has such a name: \(HostFaults.all.map(\.name).joined(separator: ", "))") }
        let name = "boxoffice-hosts-\(UUID().uuidString.prefix(8))"
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(name)
        let client = Caller.makeClient(trusting: HostsCluster.authority(in: folder))
        let network = try HostNetwork(hosts: ["host-a", "host-b", "world", "db-a", "db-b", "db-c"])
        defer { network.remove() }
        let outcome: Result<(passed: Int, failed: Int), any Error>
        do {
            let databases = try DatabaseServers(
                folder: FileManager.default.temporaryDirectory.appendingPathComponent("\(name)-db"),
                hosts: ["db-a", "db-b", "db-c"].map { network[$0] },
                guide: GuidePage(URL(fileURLWithPath: checkout).appendingPathComponent("Shared/Documents/Operations/OutgrowOneMachine.md")))
            defer { databases.stop() }
            databases.table.forEach { reporter.line($0) }
            outcome = .success(try await run(chosen, network, databases, folder, client, reporter))
        } catch {
            outcome = .failure(error)
        }
        try await client.shutdown()
        let (passed, failed) = try outcome.get()
        reporter.line("\(passed) passed, \(failed) failed")
        if failed > 0 {
            reporter.line("logs: \(folder.path)/logs")
            throw ExitCode(1)
        }
        if !keep { try? FileManager.default.removeItem(at: folder) }
    }

    private func run(
        _ chosen: [HostFault], _ network: HostNetwork, _ databases: DatabaseServers, _ folder: URL, _ client: HTTPClient, _ reporter: Reporter
    ) async throws -> (passed: Int, failed: Int) {
        let cluster = try HostsCluster(
            folder: folder, network: network, hosts: ["host-a", "host-b"].map { network[$0] }, world: network["world"], binaries: programs,
            checkout: URL(fileURLWithPath: checkout), client: client, databases: databases)
        reporter.line("settings by the commands of Shared/Documents/Operations/OutgrowOneMachine.md, in which")
        cluster.names.table.forEach { reporter.line($0) }
        let outcome: Result<(passed: Int, failed: Int), any Error>
        do {
            try await cluster.startSandbox()
            let start = ContinuousClock.now
            // All at once: whoever comes first makes the schemas.
            for place in cluster.places { try cluster.launch(place) }
            for place in cluster.places { try await cluster.waitUntilReady(place) }
            reporter.line("ten programs ready \(Reporter.text(ContinuousClock.now - start)) after the start; logs in \(folder.path)/logs")
            for place in cluster.places { try await cluster.waitUntilConnected(place) }
            try cluster.seeThatTheyWork()
            cluster.balancer.start()
            outcome = .success(try await play(chosen, cluster, databases, client, reporter))
        } catch {
            outcome = .failure(error)
        }
        let unwilling = await cluster.stop()
        unwilling.forEach { reporter.line("FAIL  \($0)") }
        let (passed, failed) = try outcome.get()
        return (passed, failed + unwilling.count)
    }

    private func play(
        _ chosen: [HostFault], _ cluster: HostsCluster, _ databases: DatabaseServers, _ client: HTTPClient, _ reporter: Reporter
    ) async throws -> (passed: Int, failed: Int) {
        let (tally, ledger, tolerance) = (Tally(), Ledger(), Tolerance())
        let caller = Caller(client: client, tally: tally, tolerated: tolerance, balancer: cluster.balancer)
        let app = try await register(caller, cluster)
        _ = tally.take()
        let bout = Bout(
            teller: StoryTeller(app: app, ledger: ledger, people: cluster.people, turn: StoryTeller.Turn()), tally: tally, tolerance: tolerance,
            ledger: ledger, reporter: reporter, rate: rate, gatewayLogs: cluster.places.filter { $0.service == .gateway }.map { cluster.log(of: $0) })
        let stage = HostsStage(
            cluster: cluster, databases: databases, bout: bout, former: former.map { URL(fileURLWithPath: $0) }, binaries: programs, isLong: long)
        var (passed, failed) = (0, 0)
        let tries = SecondTries(reporter)
        func count(_ problems: [String]) { if problems.isEmpty { passed += 1 } else { failed += 1 } }
        count(try await tries.run("no fault") { _ in try await bout.warmUp() })
        for fault in chosen {
            if let obstacle = fault.obstacle(stage) {
                reporter.line("--    \(fault.name): not run: \(obstacle)")
                continue
            }
            count(
                try await tries.run(fault.name) { _ in
                    .init(try await bout.run(fault.name, fault.budget) { try await fault.inject(stage) })
                })
        }
        tries.report()
        count(await bout.audit())
        if only.isEmpty {
            let left = databases.guide.left(under: DatabaseServers.followed + HostsCluster.followed)
            reporter.check("the guide's lines for the database, the hosts and a fail-over", "\(left.count) were not followed", problems: left)
            count(left)
        }
        return (passed, failed)
    }

    /// Gateways are ready with a catalogue, and find services a moment later.
    private func register(_ caller: Caller, _ cluster: HostsCluster) async throws -> App {
        let (statement, token) = (try await cluster.softwareStatement(), try cluster.adminToken)
        let end = ContinuousClock.now + .seconds(10)
        while true {
            do {
                return try await App.register(
                    caller, gateway: cluster.publicAddress, statement: statement, administration: cluster.administration, adminToken: token)
            } catch  where ContinuousClock.now < end {
                try await Task.sleep(for: .milliseconds(200))
            }
        }
    }

    private var programs: URL { binaries.map { URL(fileURLWithPath: $0) } ?? RunCommand.ownFolder }
}
