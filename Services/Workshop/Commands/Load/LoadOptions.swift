internal import ArgumentParser
internal import CommandKit
internal import Foundation
internal import LoadReporting
internal import LoadTool

/// The amount of load, and its length.
struct LoadOptions: ParsableArguments {
    @Option(help: "Iterations per second, no matter how slow the service is: 500, 2.5k, 600/m.")
    var rate: String?

    @Option(help: "Users instead of a rate: each calls again when its last call has ended.")
    var concurrency: Int?

    @Option(help: "FROM..TO: step by step from one rate to another, to find the knee; with --closed from one number of users to another.")
    var ramp: String?

    @Option(help: "Steps of a ramp, at least 2.")
    var steps = 10

    @Option(help: "How long each step of a ramp lasts.")
    var stepDuration = "5s"

    @Option(help: "DURATION:RATE,...: from rate to rate in even slopes, for example 30s:1000,2m:1000,10s:5000; the first one is constant.")
    var stages: String?

    @Flag(help: "A ramp of users instead of rates.")
    var closed = false

    @Flag(help: "Continue a ramp after its knee.")
    var rampOn = false

    @Option(help: "When a step of a ramp is bad: p99<TIME, errors<SHARE or throughput>SHARE; may be repeated.")
    var knee: [String] = []

    @Option(help: "Arrivals of --rate: constant or poisson.")
    var arrivals = "constant"

    @Option(name: .shortAndLong, help: "How long to measure: 30s, 5m.")
    var duration = "10s"

    @Option(help: "How long to load before the measurement.")
    var warmUp = "2s"

    @Option(help: "End after this many iterations, unless the duration ends first.")
    var calls: Int?

    @Option(name: .shortAndLong, help: "Connections. (default: 4; 64 to the gateway)")
    var connections: Int?

    @Option(help: "Threads of the tool. (default: half of the cores)")
    var workers: Int?

    @Option(help: "The most iterations under way at once; further ones are counted as not started.")
    var maxInFlight = 10_000

    @Option(help: "How long one call may take.")
    var timeout = "10s"

    @Option(help: "Seed of all random choices: the same seed gives the same run.")
    var seed: UInt64 = 1

    @Option(help: "End the run when more than this share of one second's calls failed: 50%.")
    var stopOnErrors: String?
}

extension LoadOptions {
    /// - Parameter isGateway: Other defaults hold for HTTP.
    /// - Throws: `OptionRejection` that names the option.
    func runPlan(isGateway: Bool) throws -> RunPlan {
        let connections = try positive("--connections", connections ?? (isGateway ? 64 : 4))
        let cores = ProcessInfo.processInfo.activeProcessorCount
        let workers = min(try positive("--workers", self.workers ?? max(1, cores / 2)), connections)
        let (plan, isClosed) = try loadPlan()
        guard let isPoisson = ["constant": false, "poisson": true][arrivals] else {
            throw OptionRejection("--arrivals \(arrivals)", "give constant or poisson")
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
            throw OptionRejection(fault, "give one of --rate R, --concurrency C, --ramp FROM..TO, --stages DURATION:RATE,...")
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
            throw OptionRejection("--ramp '\(text)'", "give two different rates, for example 1000..20000 or 1k..20k")
        }
        guard (2...1000).contains(steps) else { throw OptionRejection("--steps \(steps)", "give 2 to 1000") }
        return LoadPlan.ramp(from: from, to: to, steps: steps, stepLength: try span("--step-duration", stepDuration), warmUp: warmUp)
    }

    private func stageList(_ text: String) throws -> [LoadPlan.Stage] {
        var last: Double?
        return try text.split(separator: ",").map { part in
            let pair = part.split(separator: ":")
            guard pair.count == 2, let length = QuantityText.nanoseconds(pair[0]), length > 0, let to = QuantityText.rate(pair[1]) else {
                throw OptionRejection("--stages '\(text)'", "'\(part)' is not of the form DURATION:RATE, for example 30s:1000")
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
                throw OptionRejection("--knee '\(text)'", "give p99<50ms, errors<1% or throughput>95%")
            }
        }
        return rule
    }

    // MARK: Values

    private func positive(_ name: String, _ value: Int) throws -> Int {
        guard value > 0 else { throw OptionRejection("\(name) \(value)", "give a number above 0") }
        return value
    }

    private func level(_ name: String, _ text: String) throws -> Double {
        guard let rate = QuantityText.rate(text), rate <= 10_000_000 else {
            throw OptionRejection("\(name) '\(text)'", "give a rate above 0, such as 500, 2.5k or 600/m")
        }
        return rate
    }

    private func span(_ name: String, _ text: String, atLeast least: Nanoseconds = 1_000_000) throws -> Nanoseconds {
        guard let span = QuantityText.nanoseconds(text), span >= least, span <= 7 * 86_400 * 1_000_000_000 else {
            throw OptionRejection("\(name) '\(text)'", "give a time such as 500ms, 30s, 5m or 1h")
        }
        return span
    }

    private func share(_ name: String, _ text: String) throws -> Double {
        let share = text.hasSuffix("%") ? QuantityText.count(text.dropLast()).map { $0 / 100 } : QuantityText.count(text)
        guard let share, share <= 1 else { throw OptionRejection("\(name) '\(text)'", "give a share such as 1% or 0.01") }
        return share
    }
}

/// Requests to the gateway, or to any HTTP server at --address.
struct HttpOptions: ParsableArguments {
    @Option(
        help: """
            A scenario at the gateway: second-screen, playback, token-exchange, mixed, signed or sdk; in front of an upstream ('boxoffice upstream try' makes \
            one) bridge, which plays, or polling: televisions that wait, each with an address of its own and a poll every 5 s, and what they may cost.
            """)
    var scenario: String?

    @Option(help: "The API of the scenario's apps: v1 or v2. (default: v1)")
    var api: String?

    @Option(
        help: "A path with its query in place of a scenario; may be repeated. {{seq}}, {{random}}, {{uuid}} and columns of --data-file are filled in."
    )
    var path: [String] = []

    @Option(help: "HTTP method of --path.")
    var verb = "GET"

    @Option(name: [.customShort("H"), .long], help: "'Name: value' of --path; may be repeated.")
    var header: [String] = []

    @Option(help: "Body of --path; @FILE reads a file.")
    var body: String?

    @Flag(help: "A new connection for each call.")
    var noKeepAlive = false

    @Flag(help: "Take any certificate of an HTTPS server.")
    var insecure = false
}

/// Own data for the requests.
struct DataOptions: ParsableArguments {
    @Option(
        help: "The request of --method as JSON, or @FILE; an array is several requests. 'boxoffice call SERVICE METHOD --template' shows its fields.")
    var data: String?

    @Option(help: "CSV with a header row, or JSON Lines: one row per request for the placeholders in --data, --path, --header and --body.")
    var dataFile: String?

    @Option(help: "How many different requests are made from places, at least.")
    var requests = 1000

    @Option(help: "Of a method that is answered by a stream: how many items end a call; the first comes at once. (default: 1)")
    var items: Int?

    /// - Returns: The number of items that end a call; `nil`: the method has one answer.
    /// - Throws: `OptionRejection` when the text is no number.
    func streamItems(isStream: Bool) throws(OptionRejection) -> Int? {
        guard isStream else { return nil }
        let items = items ?? 1
        guard (1...1_000_000).contains(items) else { throw OptionRejection("--items \(items)", "give 1 to 1000000") }
        return items
    }

    func file() throws -> DataFile {
        guard (1...1_000_000).contains(requests) else { throw OptionRejection("--requests \(requests)", "give 1 to 1000000") }
        return try dataFile.map { try DataFile(TextFile.read($0), name: $0) } ?? .none
    }
}
