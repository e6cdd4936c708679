import AsyncHTTPClient
import BoxofficeCommand
import Foundation

/// Runs experiments one after the other on one cluster, with one ledger.
struct Suite: Sendable {
    let cluster: ChaosCluster
    let client: HTTPClient
    let reporter: Reporter
    /// Stories per second.
    let rate: Double
    let isLong: Bool
    /// `http-load`, for overloads.
    let loadProgram: URL?

    /// - Parameter overloads: Of which calls it asks for twice of what the cluster can do, at the end.
    /// - Returns: How many checks passed and failed.
    func run(_ experiments: [Experiment], overloads: [OverloadSubject]) async throws -> (passed: Int, failed: Int) {
        let (tally, ledger, tolerance) = (Tally(), Ledger(), Tolerance())
        let caller = Caller(client: client, tally: tally, tolerated: tolerance)
        let app = try await App.register(
            caller, gateway: cluster.gateway, statement: try await cluster.softwareStatement(), administration: cluster.administration,
            adminToken: try cluster.adminToken)
        let teller = StoryTeller(app: app, ledger: ledger, people: cluster.people, turn: StoryTeller.Turn())
        let stage = Stage(cluster: cluster, app: app, ledger: ledger, tally: tally, teller: teller, isLong: isLong)
        var (passed, failed) = (0, 0)
        var repeated: [String] = []
        func count(_ problems: [String]) { if problems.isEmpty { passed += 1 } else { failed += 1 } }

        count(try await warmUp(teller, tally))
        for experiment in experiments {
            if let obstacle = experiment.obstacle {
                reporter.line("--    \(experiment.name): not run: \(obstacle)")
                continue
            }
            var verdict = try await run(experiment, stage, teller, tolerance)
            if !verdict.problems.isEmpty, !verdict.isFinal {
                // Budgets bound times and shares, which a machine that was busy at that moment overruns. Twice in a row is no such moment.
                reporter.line("      \(experiment.name) is tried once more")
                repeated.append(experiment.name)
                verdict = try await run(experiment, stage, teller, tolerance)
            }
            count(verdict.problems)
        }
        if !repeated.isEmpty { reporter.line("      tried twice: \(repeated.joined(separator: ", "))") }
        for subject in overloads {
            let obstacle = ProcessorShares.obstacle
            guard obstacle == nil, let loadProgram else {
                reporter.line("--    \(subject.name): not run: \(obstacle ?? "--load must name the program http-load")")
                continue
            }
            var problems = try await overload(subject, app, loadProgram, round: 0)
            if !problems.isEmpty {
                reporter.line("      \(subject.name) is tried once more")
                problems = try await overload(subject, app, loadProgram, round: 1)
            }
            count(problems)
        }
        count(await audit(app, ledger))
        return (passed, failed)
    }

    /// Fills the ledger, and shows that nothing fails while nothing is wrong.
    private func warmUp(_ teller: StoryTeller, _ tally: Tally) async throws -> [String] {
        let load = Load(teller, rate: rate)
        load.start()
        try await Task.sleep(for: .seconds(4))
        await load.stop()
        let samples = tally.take()
        let bad = samples.filter { !$0.isDone }.map { "\($0.operation.rawValue) \($0.result) \($0.remark ?? "")" }
        let slowest = samples.map(\.took).max() ?? .zero
        reporter.check("no fault", "\(samples.count) requests, the slowest took \(Reporter.text(slowest))", problems: bad)
        return bad
    }

    private func run(
        _ experiment: Experiment, _ stage: Stage, _ teller: StoryTeller, _ tolerance: Tolerance
    ) async throws -> Verdict {
        let start = ContinuousClock.now
        try await experiment.prepare(stage)
        tolerance.begin(experiment.budget)
        let memory = MemoryWatch(cluster)
        let load = Load(teller, rate: rate)
        load.start()
        do {
            try await stage.pause(.milliseconds(700))
            var injection = try await experiment.inject(stage)
            try await stage.pause(.milliseconds(1800))
            await load.stop()
            tolerance.end(experiment.budget)
            if load.skippedStories > 0 {
                injection.problems.append("\(load.skippedStories) stories were not begun, as \(Load.mostOpen) were under way")
            }
            if experiment.watchesMemory {
                let (facts, problems) = memory.compare(cluster)
                injection.remark += (injection.remark.isEmpty ? "" : "; ") + facts
                injection.problems += problems
            }
            let verdict = Verdict(stage.tally.take(), injection, experiment.budget)
            reporter.result(experiment.name, verdict, remark: injection.remark, took: ContinuousClock.now - start)
            try await experiment.restore(stage)
            return verdict
        } catch {
            await load.stop()
            throw ChaosFailure("\(experiment.name): \(error)")
        }
    }

    private func overload(_ subject: OverloadSubject, _ app: App, _ program: URL, round: Int) async throws -> [String] {
        // The proxies are in this program: they would take what the load needs.
        try cluster.route(throughProxies: false)
        let devices = try await subject.devices(of: app, people: cluster.people, round: round)
        for service in ClusterService.allCases where service != .sandbox {
            cluster.setCondition(ProcessorShares.ofTheCluster, of: service)
            try await cluster.end(service, SIGTERM)
            try cluster.launch(service)
            try await cluster.waitUntilReady(service)
        }
        try ProcessorShares.leaveTheFirst()
        let (facts, problems) = try Overload(subject: subject, app: app, cluster: cluster, program: program, seconds: isLong ? 20 : 4).run(
            devices: devices)
        reporter.check(subject.name, facts, problems: problems)
        return problems
    }

    private func audit(_ app: App, _ ledger: Ledger) async -> [String] {
        let counts = await ledger.counts.map { "\($0.1) \($0.0)" }.joined(separator: ", ")
        let (checked, problems) = await Audit(app: app, ledger: ledger).run()
        reporter.check("everything acknowledged is there, what was ended has ended", "\(checked) entries (\(counts))", problems: problems)
        return problems
    }
}
