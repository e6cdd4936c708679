import AsyncHTTPClient
import CommandKit
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

    /// - Parameter overloads: The calls of which it asks for twice the cluster's capacity, at the end.
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
        let tries = SecondTries(reporter)
        func count(_ problems: [String]) { if problems.isEmpty { passed += 1 } else { failed += 1 } }

        let bout = Bout(
            teller: teller, tally: tally, tolerance: tolerance, ledger: ledger, reporter: reporter, rate: rate,
            gatewayLogs: [cluster.home.logs.appendingPathComponent("gateway.log")])
        count(try await tries.run("no fault") { _ in try await bout.warmUp() })
        for experiment in experiments {
            if let obstacle = experiment.obstacle {
                reporter.line("--    \(experiment.name): not run: \(obstacle)")
                continue
            }
            count(try await tries.run(experiment.name) { _ in .init(try await run(experiment, stage, bout)) })
        }
        for subject in overloads {
            let obstacle = ProcessorShares.obstacle
            guard obstacle == nil, let loadProgram else {
                reporter.line("--    \(subject.name): not run: \(obstacle ?? "--load must name the program http-load")")
                continue
            }
            count(
                try await tries.run(subject.name) { round in
                    .init(problems: try await overload(subject, app, loadProgram, round: round), isFinal: false)
                })
        }
        tries.report()
        count(await bout.audit())
        return (passed, failed)
    }

    private func run(_ experiment: Experiment, _ stage: Stage, _ bout: Bout) async throws -> Verdict {
        let start = ContinuousClock.now
        try await experiment.prepare(stage)
        let memory = experiment.watchesMemory ? MemoryWatch(cluster) : nil
        let verdict = try await bout.run(experiment.name, experiment.budget, since: start) {
            var injection = try await experiment.inject(stage)
            if let memory {
                let (facts, problems) = memory.compare(cluster)
                injection.remark += (injection.remark.isEmpty ? "" : "; ") + facts
                injection.problems += problems
            }
            return injection
        }
        try await experiment.restore(stage)
        return verdict
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
}
