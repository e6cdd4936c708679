internal import Foundation

/// The reports of several generators that put one load on one service together, as one report.
public struct ReportJoin {
    /// Reports that do not belong together; says which, and by what.
    public struct Rejection: Error, CustomStringConvertible, Equatable {
        public let description: String

        init(_ description: String) { self.description = description }
    }

    /// The generators' starts may lie apart this far.
    private static let leastApartMilliseconds: Int64 = 2000

    /// Generators of one join.
    public static let most = 100

    private let parts: [(name: String, report: LoadReport)]

    /// - Parameter parts: Reports and what they are called, names of files for example.
    /// - Throws: `Rejection`.
    public init(_ parts: [(name: String, report: LoadReport)]) throws(Rejection) {
        self.parts = parts
        guard parts.count > 1, let first = parts.first else { throw Rejection("one report alone has nothing to be joined with: give two or more") }
        guard parts.count <= Self.most else { throw Rejection("\(parts.count) reports are too many: at most \(Self.most) are joined") }
        for part in parts { try Self.checkContent(part) }
        var runs: [String: String] = [:]
        for part in parts {
            for run in part.report.generators?.map(\.runID) ?? [part.report.run.id] {
                if let other = runs.updateValue(part.name, forKey: run) {
                    throw Rejection("\(other) and \(part.name) have the same run in them: each generator writes a report of its own")
                }
            }
        }
        for part in parts.dropFirst() { try Self.check(first, part) }
        try checkStarts()
    }

    /// - Parameters:
    ///   - run: The name of the joined run; its id, version and times are set here.
    /// - Returns: Without assertions: those of a part are about that part.
    public func report(name: String? = nil, tags: [String: String] = [:], commandLine: [String] = []) -> LoadReport {
        let reports = parts.map(\.report)
        let observed = parts.first { $0.report.observation?.processes.contains { $0.role == .target } == true } ?? parts[0]
        let commonTags = reports.map(\.run.tags).reduce(reports[0].run.tags) { common, next in common.filter { next[$0.key] == $0.value } }
        let (steps, hasAllSteps) = joinedSteps
        let rule = reports[0].settings.knee ?? KneeRule()
        let judged = steps.isEmpty ? (steps: [], knee: nil) : rule.judge(steps, isClosed: reports[0].settings.loop == .closed)
        var whole = LoadReport(
            run: RunFacts(
                id: UUID().uuidString.replacing("-", with: "").lowercased(), name: name ?? reports[0].run.name,
                tags: commonTags.merging(tags) { $1 }, startedAtMilliseconds: reports.map(\.run.startedAtMilliseconds).min() ?? 0, end: end,
                toolVersion: reports[0].run.toolVersion, commandLine: commandLine),
            settings: settings, machine: observed.report.machine, totals: .joined(reports.map(\.totals)),
            operations: .joined(reports.map(\.operations)), series: .joined(reports.map(\.series)), steps: judged.steps, knee: judged.knee,
            errors: .joined(reports.map(\.errors)), generator: health,
            iterationTime: reports.contains { $0.iterationTime != nil } ? .joined(reports.compactMap(\.iterationTime)) : nil,
            observation: observed.report.observation)
        if reports.contains(where: { $0.machine.build == ServiceBuild.debug.rawValue }) { whole.machine.build = ServiceBuild.debug.rawValue }
        whole.serviceBuild = reports.compactMap(\.serviceBuild).first { $0 != .unknown } ?? reports[0].serviceBuild
        whole.generators = parts.flatMap { part in part.report.generators ?? [GeneratorResult(part.name, part.report)] }
        whole.joining = remarks(observed.name, hasAllSteps: hasAllSteps)
        return whole
    }

    // MARK: Whether they belong together

    private static func checkContent(_ part: (name: String, report: LoadReport)) throws(Rejection) {
        let report = part.report
        let hasAll =
            report.settings.schedule != nil && report.series.allSatisfy { $0.succeeded + $0.failed == 0 || $0.responseTimes != nil }
            && report.steps.allSatisfy { $0.lag != nil }
        guard hasAll else {
            throw Rejection("\(part.name) is of an earlier version, which kept no histogram of each second: make it again with this version")
        }
        guard !report.settings.isIsolated else {
            throw Rejection("\(part.name) is of a run with --isolated, which loads a service of its own: only runs on one service are joined")
        }
    }

    private static func check(_ first: (name: String, report: LoadReport), _ other: (name: String, report: LoadReport)) throws(Rejection) {
        let (one, two) = (first.report.settings, other.report.settings)
        func same(_ what: String, _ left: String, _ right: String, _ advice: String) throws(Rejection) {
            guard left != right else { return }
            throw Rejection("\(first.name) and \(other.name) have different \(what), \(left) and \(right): \(advice)")
        }
        try same("services", one.service, two.service, "only runs on one service are joined")
        try same("scenarios", one.workload, two.workload, "give all generators the same")
        let version = "their contracts may differ; run one version everywhere"
        try same("versions of the tool", first.report.run.toolVersion, other.report.run.toolVersion, version)
        if let old = first.report.serviceBuild, let young = other.report.serviceBuild, old != .unknown, young != .unknown {
            try same("builds of the service", old.rawValue, young.rawValue, "they were not on one service at one time")
        }
        let advice = "give all generators the same load"
        try same("loops", one.loop.rawValue, two.loop.rawValue, advice)
        try same("arrivals", one.arrivals?.rawValue ?? "none", two.arrivals?.rawValue ?? "none", advice)
        try same("schedules", text(one), text(two), advice)
        try same("warm-ups", Quantity.span(one.warmUpNanoseconds), Quantity.span(two.warmUpNanoseconds), advice)
        try same("timeouts", Quantity.span(one.timeoutNanoseconds), Quantity.span(two.timeoutNanoseconds), advice)
        try same("limits of calls", one.callLimit.map(Quantity.count) ?? "none", two.callLimit.map(Quantity.count) ?? "none", advice)
        guard one.schedule == two.schedule, one.knee == two.knee else {
            throw Rejection("\(first.name) and \(other.name) have different \(one.knee == two.knee ? "schedules" : "rules for the knee"): \(advice)")
        }
    }

    /// A schedule, as short as it can be told.
    private static func text(_ settings: RunSettings) -> String {
        let stages = settings.schedule ?? []
        let unit = settings.loop == .open ? "/s" : " users"
        let shown = stages.prefix(4).map { stage in
            let levels =
                stage.fromLevel == stage.toLevel
                ? Quantity.number(stage.fromLevel) : "\(Quantity.number(stage.fromLevel)) to \(Quantity.number(stage.toLevel))"
            return "\(levels)\(unit) for \(Quantity.span(stage.lengthNanoseconds))"
        }
        return shown.joined(separator: ", then ") + (stages.count > 4 ? " and so on (\(stages.count) steps)" : "")
    }

    /// Times of the generators' own clocks.
    private func checkStarts() throws(Rejection) {
        let sorted = parts.sorted { $0.report.run.startedAtMilliseconds < $1.report.run.startedAtMilliseconds }
        guard let first = sorted.first, let last = sorted.last else { return }
        let shortest = (first.report.settings.schedule ?? []).map(\.lengthNanoseconds).min() ?? 0
        guard apartMilliseconds > max(Self.leastApartMilliseconds, shortest / 10_000_000) else { return }
        throw Rejection(
            "\(last.name) began \(Quantity.span(apartMilliseconds * 1_000_000)) after \(first.name), by their clocks: start generators at one moment, with --start-at"
        )
    }

    private var apartMilliseconds: Int64 {
        let starts = parts.map(\.report.run.startedAtMilliseconds)
        return (starts.max() ?? 0) - (starts.min() ?? 0)
    }

    // MARK: What comes of it

    /// The end that says most.
    private var end: RunFacts.End {
        let ends = parts.map(\.report.run.end)
        return [.targetLost, .interrupted, .stopCondition, .calls].first { ends.contains($0) } ?? .duration
    }

    private var settings: RunSettings {
        let all = parts.map(\.report.settings)
        var whole = all[0]
        var targets: [String] = []
        for target in all.flatMap(\.targets) where !targets.contains(target) { targets.append(target) }
        whole.targets = targets
        let count = Double(all.count)
        (whole.fromLevel, whole.toLevel) = (whole.fromLevel * count, whole.toLevel * count)
        whole.schedule = whole.schedule?.map {
            RunSettings.Stage(lengthNanoseconds: $0.lengthNanoseconds, fromLevel: $0.fromLevel * count, toLevel: $0.toLevel * count)
        }
        whole.connections = all.reduce(0) { $0 + $1.connections }
        whole.workers = all.reduce(0) { $0 + $1.workers }
        whole.maxOutstanding = all.reduce(0) { $0 + $1.maxOutstanding }
        whole.callLimit = whole.callLimit.map { _ in all.reduce(0) { $0 + ($1.callLimit ?? 0) } }
        return whole
    }

    /// The steps that all have been through as a whole: what one generator alone went on with is no step of all.
    private var joinedSteps: (steps: [StepResult], hasAll: Bool) {
        let all = parts.map(\.report.steps)
        let shortest = all.map(\.count).min() ?? 0
        var steps: [StepResult] = []
        for index in 0..<shortest {
            let same = all.map { $0[index] }
            let times = same.map(\.totals.elapsedNanoseconds)
            guard Double(times.min() ?? 0) >= 0.9 * Double(times.max() ?? 0) else { break }
            var lag = LatencyHistogram()
            for step in same { if let own = step.lag { lag.add(LatencyHistogram(own)) } }
            steps.append(
                StepResult(
                    level: same.reduce(0) { $0 + $1.level }, totals: .joined(same.map(\.totals)), lagP99Nanoseconds: lag.value(at: 99),
                    lag: lag.encoded))
        }
        return (steps, all.allSatisfy { $0.count == steps.count })
    }

    private var health: GeneratorHealth {
        let all = parts.map { ($0.name, $0.report.generator) }
        let explanations = all.compactMap { name, health in health.wasBottleneck ? "\(name): \(health.explanation ?? "it was late.")" : nil }
        return GeneratorHealth(
            lag: .joined(all.map(\.1.lag)), processorShare: all.reduce(0) { $0 + $1.1.processorShare }, wasBottleneck: !explanations.isEmpty,
            explanation: explanations.isEmpty ? nil : explanations.joined(separator: " "))
    }

    private func remarks(_ observed: String, hasAllSteps: Bool) -> [String] {
        var remarks: [String] = []
        if apartMilliseconds >= 100 {
            remarks.append("The generators began within \(Quantity.span(apartMilliseconds * 1_000_000)), by their clocks.")
        }
        let early = parts.filter { $0.report.run.end != parts[0].report.run.end }
        if !early.isEmpty {
            remarks.append(
                "Not all generators ended alike: \(parts.map { "\($0.name) by \(Self.words[$0.report.run.end] ?? "")" }.joined(separator: ", ")).")
        }
        if !hasAllSteps {
            remarks.append("Only steps that all generators have been through are in the ramp; --ramp-on lets each go through all.")
        }
        if parts.contains(where: { $0.report.observation != nil }) { remarks.append("The service was observed by the generator of \(observed).") }
        return remarks
    }

    private static let words: [RunFacts.End: String] = [
        .duration: "its duration", .calls: "its calls", .interrupted: "an interruption", .stopCondition: "its stop condition",
        .targetLost: "losing the service",
    ]
}
