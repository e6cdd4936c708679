internal import Foundation
internal import LoadReporting
internal import LoadTool

extension LoadOptions {
    /// - Parameter isGateway: Other defaults hold for HTTP.
    /// - Throws: `BadOption` that names the option.
    func runPlan(isGateway: Bool) throws -> RunPlan {
        let connections = try positive("--connections", connections ?? (isGateway ? 64 : 4))
        let cores = ProcessInfo.processInfo.activeProcessorCount
        let workers = min(try positive("--workers", self.workers ?? max(1, cores / 2)), connections)
        let (plan, isClosed) = try loadPlan()
        guard let isPoisson = ["constant": false, "poisson": true][arrivals] else {
            throw BadOption("--arrivals \(arrivals)", "give constant or poisson")
        }
        var run = RunPlan(
            plan: plan, loop: isClosed ? .closed : .open(poisson: isPoisson), workers: workers, connections: connections,
            maxOutstanding: try positive("--max-in-flight", maxInFlight), timeout: try span("--timeout", timeout),
            iterationLimit: try calls.map { try positive("--calls", $0) }, seed: seed)
        run.rampsOn = rampOn
        run.knee = try kneeRule()
        run.stopErrorShare = try stopOnErrors.map { try share("--stop-on-errors", $0) }
        return run
    }

    private func loadPlan() throws -> (LoadPlan, isClosed: Bool) {
        let given = [rate != nil, concurrency != nil, ramp != nil, stages != nil].count { $0 }
        guard given == 1 else {
            let fault = given == 0 ? "no load is given" : "--rate, --concurrency, --ramp and --stages exclude one another"
            throw BadOption(fault, "give one of --rate R, --concurrency C, --ramp FROM..TO, --stages DURATION:RATE,...")
        }
        let warmUp = try span("--warm-up", warmUp, atLeast: 0)
        let length = try span("--duration", duration)
        if let concurrency {
            return (LoadPlan(warmUp: warmUp, stages: [.init(length: length, level: Double(try positive("--concurrency", concurrency)))]), true)
        }
        if let rate { return (LoadPlan(warmUp: warmUp, stages: [.init(length: length, level: try level("--rate", rate))]), false) }
        if let stages { return (LoadPlan(warmUp: warmUp, stages: try stageList(stages)), false) }
        return (try rampPlan(warmUp), closed)
    }

    private func rampPlan(_ warmUp: Nanoseconds) throws -> LoadPlan {
        let text = ramp ?? ""
        let ends = text.components(separatedBy: "..")
        guard ends.count == 2, let from = QuantityText.rate(ends[0]), let to = QuantityText.rate(ends[1]), from != to else {
            throw BadOption("--ramp '\(text)'", "give two different rates, for example 1000..20000 or 1k..20k")
        }
        guard (2...1000).contains(steps) else { throw BadOption("--steps \(steps)", "give 2 to 1000") }
        return LoadPlan.ramp(from: from, to: to, steps: steps, stepLength: try span("--step-duration", stepDuration), warmUp: warmUp)
    }

    private func stageList(_ text: String) throws -> [LoadPlan.Stage] {
        var last: Double?
        return try text.split(separator: ",").map { part in
            let pair = part.split(separator: ":")
            guard pair.count == 2, let length = QuantityText.nanoseconds(pair[0]), length > 0, let to = QuantityText.rate(pair[1]) else {
                throw BadOption("--stages '\(text)'", "'\(part)' is not of the form DURATION:RATE, for example 30s:1000")
            }
            defer { last = to }
            return LoadPlan.Stage(length: length, from: last ?? to, to: to)
        }
    }

    private func kneeRule() throws -> KneeRule {
        var rule = KneeRule()
        for text in knee {
            if text.hasPrefix("p99<"), let limit = QuantityText.nanoseconds(text.dropFirst(4)), text.last?.isLetter == true {
                rule.longestP99Nanoseconds = limit
            } else if text.hasPrefix("errors<") {
                rule.mostErrors = try share("--knee", String(text.dropFirst(7)))
            } else if text.hasPrefix("throughput>") {
                rule.leastThroughput = try share("--knee", String(text.dropFirst(11)))
            } else {
                throw BadOption("--knee '\(text)'", "give p99<50ms, errors<1% or throughput>95%")
            }
        }
        return rule
    }

    // MARK: Values

    private func positive(_ name: String, _ value: Int) throws -> Int {
        guard value > 0 else { throw BadOption("\(name) \(value)", "give a number above 0") }
        return value
    }

    private func level(_ name: String, _ text: String) throws -> Double {
        guard let rate = QuantityText.rate(text), rate <= 10_000_000 else {
            throw BadOption("\(name) '\(text)'", "give a rate above 0, such as 500, 2.5k or 600/m")
        }
        return rate
    }

    private func span(_ name: String, _ text: String, atLeast least: Nanoseconds = 1_000_000) throws -> Nanoseconds {
        guard let span = QuantityText.nanoseconds(text), span >= least, span <= 7 * 86_400 * 1_000_000_000 else {
            throw BadOption("\(name) '\(text)'", "give a time such as 500ms, 30s, 5m or 1h")
        }
        return span
    }

    private func share(_ name: String, _ text: String) throws -> Double {
        let share = text.hasSuffix("%") ? QuantityText.count(text.dropLast()).map { $0 / 100 } : QuantityText.count(text)
        guard let share, share <= 1 else { throw BadOption("\(name) '\(text)'", "give a share such as 1% or 0.01") }
        return share
    }
}
