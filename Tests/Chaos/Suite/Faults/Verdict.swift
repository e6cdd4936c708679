/// The verdict of the load's requests on one experiment.
struct Verdict: Sendable {
    let requests: Int
    let failures: Int
    /// Share of failed requests while the fault lasted.
    let failedShare: Double
    /// From the end of a fault until the last request that failed began; the longest of all.
    let recovery: Duration
    let problems: [String]
    /// An answer that may never come, or none at all: no busy machine excuses that, so that trying again proves nothing.
    let isFinal: Bool

    /// A failure without a rule of its own is one of these.
    private struct Window {
        let times: FaultTimes
        let recovery: Duration

        func holds(_ sample: Sample) -> Bool { sample.ended >= times.began && sample.begun <= times.ended + recovery }
    }

    init(_ all: [Sample], _ injection: Injection, _ budget: Budget) {
        let samples = all.filter { $0.result != .excused }
        let times = injection.times
        let windows = times.map { Window(times: $0, recovery: budget.recovery) }
        let failed = samples.filter { !$0.isDone }
        let during = failed.filter { sample in windows.contains { $0.holds(sample) } }
        let outside = failed.filter { sample in !windows.contains { $0.holds(sample) } }
        let asked = samples.filter { sample in windows.contains { $0.holds(sample) } }
        requests = samples.count
        failures = failed.count
        failedShare = asked.isEmpty ? 0 : Double(during.count) / Double(asked.count)
        recovery = Self.recovery(failed, times)

        isFinal = failed.contains { $0.result == .wrong || $0.result == .late }

        var problems: [String] = []
        problems += Self.listed("answers that may never come", failed.filter { $0.result == .wrong })
        problems += Self.listed("requests without an answer in \(Caller.deadline)", failed.filter { $0.result == .late })
        problems += Self.listed("connections broken", failed.filter { $0.result == .broken && !budget.breaking.contains($0.operation) })
        problems += Self.listed("failures outside the fault and the second after it", outside)
        problems += Self.listed("failures that took longer than \(budget.longestFailure)", during.filter { $0.took > budget.longestFailure })
        if let longest = budget.longestNewFailure {
            let new = during.filter { sample in times.contains { $0.began + Self.injection <= sample.begun } }
            problems += Self.listed("failures of requests that began then and took longer than \(longest)", new.filter { $0.took > longest })
        }
        problems += Self.overspent(asked, budget)
        if failedShare > budget.total { problems.append("more than the \(Int(budget.total * 100)) % of the budget failed") }
        problems += injection.problems
        if budget.mustHurt, during.isEmpty { problems.append("nothing failed: the fault was not felt, so that this shows nothing") }
        if asked.count < 20 { problems.append("only \(asked.count) requests met the fault, too few to judge by") }
        self.problems = problems
    }

    /// A fault is there so long after its time began.
    private static let injection: Duration = .milliseconds(200)

    private static func recovery(_ failed: [Sample], _ times: [FaultTimes]) -> Duration {
        // Each failure belongs to the last fault that began before it ended.
        let delays = failed.compactMap { sample in times.last { $0.began <= sample.ended }.map { $0.ended.duration(to: sample.begun) } }
        return max(.zero, delays.max() ?? .zero)
    }

    private static func overspent(_ asked: [Sample], _ budget: Budget) -> [String] {
        Dictionary(grouping: asked, by: \.operation).sorted { $0.key.rawValue < $1.key.rawValue }.compactMap { operation, samples in
            let failed = samples.filter { !$0.isDone }
            let (share, allowed) = (Double(failed.count) / Double(samples.count), budget.shares[operation] ?? 0)
            guard share > allowed else { return nil }
            let kinds = failed.prefix(3).map { "\($0.result)\($0.remark.map { " (\($0.prefix(120)))" } ?? "")" }
            return
                "\(operation.rawValue): \(failed.count) of \(samples.count) failed, at most \(Int(allowed * 100)) % may: \(kinds.joined(separator: ", "))"
        }
    }

    private static func listed(_ what: String, _ samples: [Sample]) -> [String] {
        guard !samples.isEmpty else { return [] }
        let examples = samples.prefix(4).map { sample in
            "\(sample.operation.rawValue) \(sample.result) after \(sample.took)\(sample.remark.map { " (\($0.prefix(200)))" } ?? "")"
        }
        return ["\(samples.count) \(what): \(examples.joined(separator: "; "))"]
    }
}
