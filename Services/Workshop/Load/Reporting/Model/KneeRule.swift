/// A step of a ramp counts as past the knee by this rule.
public struct KneeRule: Codable, Sendable, Equatable {
    /// Good answers must be at least this share of what was due.
    public var leastThroughput = 0.95
    /// At most this share of the calls may fail.
    public var mostErrors = 0.01
    /// Nanoseconds that the 99th percentile of the response time may reach; `nil`: ten times that of the first step, and at least 20 ms.
    public var longestP99Nanoseconds: Int64?

    public init() {}

    /// Judges the steps of a ramp in their order.
    /// - Parameter isClosed: True for a closed loop: its levels are users, and only their own questions are due.
    /// - Returns: The steps with their verdicts, and the knee.
    public func judge(_ steps: [StepResult], isClosed: Bool) -> (steps: [StepResult], knee: Knee?) {
        guard let first = steps.first else { return (steps, nil) }
        let limit = longestP99Nanoseconds ?? max(10 * p99(first), 20_000_000)
        let judged = steps.map { step in
            var step = step
            step.failure = failure(of: step, limit: limit, isClosed: isClosed)
            return step
        }
        return (judged, knee(judged, limit: limit, isClosed: isClosed))
    }

    private func p99(_ step: StepResult) -> Int64 { LatencyHistogram(step.totals.responseTime.histogram).value(at: 99) }

    private func failure(of step: StepResult, limit: Int64, isClosed: Bool) -> KneeCriterion? {
        let totals = step.totals
        let found: KneeCriterion? =
            if totals.errorShare > mostErrors {
                .errors
            } else if !isClosed,
                Double(totals.due - totals.dropped) * leastThroughput > Double(totals.iterations) || totals.droppedShare > 1 - leastThroughput
            {
                .throughput
            } else if p99(step) > limit {
                .latency
            } else {
                nil
            }
        // When most of the waiting time is the tool's own lateness, the step says nothing about the service.
        guard found == .throughput || found == .latency, step.lagP99Nanoseconds * 2 > p99(step) else { return found }
        return .generator
    }

    private func knee(_ steps: [StepResult], limit: Int64, isClosed: Bool) -> Knee {
        let unit = isClosed ? "users" : "iterations/s"
        guard let failed = steps.firstIndex(where: { $0.failure != nil }), let criterion = steps[failed].failure else {
            let last = steps.last
            return Knee(
                level: last?.level, rate: last?.totals.rate, failedLevel: nil, criterion: nil,
                explanation: "No knee: the highest step, \(Quantity.number(last?.level ?? 0)) \(unit), was served well. Ramp further up.")
        }
        let bad = steps[failed]
        let good = failed > 0 ? steps[failed - 1] : nil
        return Knee(
            level: good?.level, rate: good?.totals.rate, failedLevel: bad.level, criterion: criterion,
            explanation: finding(good, bad, unit, criterion == .generator) + " \(reason(criterion, bad, limit)).")
    }

    /// Between two steps nothing was measured.
    private func finding(_ good: StepResult?, _ bad: StepResult, _ unit: String, _ isToolLate: Bool) -> String {
        let high = Quantity.number(bad.level)
        guard let good else { return "Already at \(high) \(unit)" }
        let (low, rate) = (Quantity.number(good.level), Quantity.number(good.totals.rate))
        let place = isToolLate ? "lies above \(low) \(unit)" : "lies between \(low) and \(high) \(unit)"
        return "The knee \(place): \(low) gave \(rate) good answers/s, at \(high)"
    }

    private func reason(_ criterion: KneeCriterion, _ step: StepResult, _ limit: Int64) -> String {
        let totals = step.totals
        switch criterion {
        case .errors: return "\(Quantity.share(totals.errorShare)) of the calls failed (limit \(Quantity.share(mostErrors)))"
        case .throughput:
            return
                "only \(Quantity.number(totals.elapsedSeconds > 0 ? Double(totals.iterations) / totals.elapsedSeconds : 0)) iterations/s were served"
        case .latency: return "p99 was \(Quantity.time(p99(step))) (limit \(Quantity.time(limit)))"
        case .generator: return "the tool itself was late by \(Quantity.time(step.lagP99Nanoseconds)) (p99), so the service may do more"
        }
    }
}
