import Foundation

/// One load and one ledger, under which faults come and go.
struct Bout: Sendable {
    let teller: StoryTeller
    let tally: Tally
    let tolerance: Tolerance
    let ledger: Ledger
    let reporter: Reporter
    /// Stories per second.
    let rate: Double
    /// Say why a request was refused.
    let gatewayLogs: [URL]

    /// Fills the ledger, and shows that nothing fails while nothing is wrong.
    func warmUp() async throws -> SecondTries.Finding {
        let load = Load(teller, rate: rate)
        load.start()
        try await Task.sleep(for: .seconds(4))
        await load.stop()
        let samples = tally.take()
        let failed = samples.filter { !$0.isDone }
        var bad = failed.map { sample in
            "\(sample.operation.rawValue) \(sample.result) after \(Reporter.text(sample.took)): \((sample.remark ?? "no answer").prefix(200))"
        }
        if !bad.isEmpty { bad += reasons() }
        let slowest = samples.max { $0.took < $1.took }.map { ", the slowest (\($0.operation.rawValue)) took \(Reporter.text($0.took))" } ?? ""
        reporter.check("no fault", "\(samples.count) requests\(slowest)", problems: bad)
        return .init(problems: bad, isFinal: failed.contains { $0.result == .wrong || $0.result == .late })
    }

    /// The latest refusals that the gateways noted.
    private func reasons() -> [String] {
        gatewayLogs.flatMap { log in
            let lines = (try? String(contentsOf: log, encoding: .utf8))?.split(separator: "\n") ?? []
            return lines.filter { $0.contains("\"request-refused\"") || $0.contains("\"overload.refused\"") }.suffix(4).map { String($0.prefix(600)) }
        }
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

    /// - Returns: The problems.
    func audit() async -> [String] {
        let counts = await ledger.counts.map { "\($0.1) \($0.0)" }.joined(separator: ", ")
        let (checked, problems) = await Audit(app: teller.app, ledger: ledger).run()
        reporter.check("everything acknowledged is there, what was ended has ended", "\(checked) entries (\(counts))", problems: problems)
        return problems
    }
}
