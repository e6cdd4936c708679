/// One load and one ledger, under which faults come and go.
struct Bout: Sendable {
    let teller: StoryTeller
    let tally: Tally
    let tolerance: Tolerance
    let ledger: Ledger
    let reporter: Reporter
    /// Stories per second.
    let rate: Double

    /// Fills the ledger, and shows that nothing fails while nothing is wrong.
    /// - Returns: What is wrong.
    func warmUp() async throws -> [String] {
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

    /// - Parameters:
    ///   - start: When the preparations of the fault began.
    ///   - inject: Brings the fault about and ends it.
    func run(
        _ name: String, _ budget: Budget, since start: ContinuousClock.Instant = .now, _ inject: () async throws -> Injection
    ) async throws -> Verdict {
        tolerance.begin(budget)
        let load = Load(teller, rate: rate)
        load.start()
        do {
            try await Task.sleep(for: .milliseconds(700))
            var injection = try await inject()
            try await Task.sleep(for: .milliseconds(1800))
            await load.stop()
            tolerance.end(budget)
            if load.skippedStories > 0 {
                injection.problems.append("\(load.skippedStories) stories were not begun, as \(Load.mostOpen) were under way")
            }
            let verdict = Verdict(tally.take(), injection, budget)
            reporter.result(name, verdict, remark: injection.remark, took: ContinuousClock.now - start)
            return verdict
        } catch {
            await load.stop()
            throw ChaosFailure("\(name): \(error)")
        }
    }

    /// - Returns: What is wrong.
    func audit() async -> [String] {
        let counts = await ledger.counts.map { "\($0.1) \($0.0)" }.joined(separator: ", ")
        let (checked, problems) = await Audit(app: teller.app, ledger: ledger).run()
        reporter.check("everything acknowledged is there, what was ended has ended", "\(checked) entries (\(counts))", problems: problems)
        return problems
    }
}
