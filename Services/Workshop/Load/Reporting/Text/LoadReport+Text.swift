internal import Foundation

extension LoadReport {
    /// The report for a terminal, at most 80 columns wide.
    public func text() -> String {
        let sections: [[String]] = [
            heading, counts, latencyTable, percentileCurve, operationTable, stepTable, generatorTable, errorTable, remarks, assertionLines, warning,
        ]
        return sections.filter { !$0.isEmpty }.map { $0.joined(separator: "\n") }.joined(separator: "\n\n") + "\n"
    }

    private var heading: [String] {
        var lines = ["\(run.name.map { "\($0): " } ?? "")\(settings.service), \(settings.workload)"]
        lines[0] = TextTable.cut(lines[0], 80)
        let level = Self.levels(settings)
        let loop = settings.loop == .open ? "open loop, \(level)/s \(settings.arrivals?.rawValue ?? "")" : "closed loop, \(level) users"
        let parts = "\(Quantity.count(settings.connections)) connections, \(settings.workers) threads"
        lines.append("  \(loop); \(parts)\(generators.map { ", \($0.count) generators" } ?? "")")
        lines.append(TextTable.cut("  \(settings.targets.joined(separator: ", "))\(settings.isIsolated ? ", peers played by the tool" : "")", 80))
        if generators == nil { lines.append(TextTable.cut("  \(machine.processor), \(machine.cores) cores", 80)) }
        lines.append("  service: \((serviceBuild ?? .unknown).rawValue) build; this tool: \(machine.build) build")
        if !run.tags.isEmpty {
            lines.append(TextTable.cut("  " + run.tags.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: " "), 80))
        }
        return lines
    }

    private var counts: [String] {
        let totals = headline
        var rows = headlineStep.map { [["step", "\(name(of: $0, Quantity.number)); the table below has all"]] } ?? []
        rows += [
            ["measured", Quantity.span(totals.elapsedNanoseconds) + (Self.endings[run.end].map { " (\($0))" } ?? "")],
            ["good answers", "\(Quantity.count(totals.succeeded))  (\(Self.rate(totals.rate)))"],
            ["failed", "\(Quantity.count(totals.failed))  (\(Quantity.share(totals.errorShare)))"],
        ]
        if totals.iterations != totals.succeeded + totals.failed {
            rows.append(["iterations", "\(Quantity.count(totals.iterations)) whole of \(Quantity.count(totals.due)) due"])
        }
        if settings.loop == .open {
            rows.insert(["due", "\(Quantity.count(totals.due))  (\(Self.rate(totals.dueRate)))"], at: steps.isEmpty ? 1 : 2)
            rows.append(["not started", "\(Quantity.count(totals.dropped))  (\(Quantity.share(totals.droppedShare)))"])
        }
        if totals.unfinished > 0 { rows.append(["unfinished", Quantity.count(totals.unfinished)]) }
        rows.append(["sent, received", "\(Quantity.bytes(Double(totals.requestBytes))), \(Quantity.bytes(Double(totals.answerBytes)))"])
        return rows.map { "  \($0[0].padding(toLength: 16, withPad: " ", startingAt: 0))\($0[1])" }
    }

    private var latencyTable: [String] {
        let totals = headline
        guard totals.responseTime.count > 0 else { return ["  No call ended."] }
        let rows = [
            ("response time", totals.responseTime), ("service time", totals.serviceTime), ("tool's lateness", steps.isEmpty ? generator.lag : nil),
            ("iteration", steps.isEmpty ? iterationTime : nil),
        ]
        var table = TextTable(["", "mean", "p50", "p90", "p99", "p99.9", "max"])
        for case (let name, let times?) in rows as [(String, Latencies?)] where times.count > 0 { table.add([name] + Self.times(times)) }
        return table.lines
    }

    private static func times(_ latencies: Latencies) -> [String] {
        let histogram = LatencyHistogram(latencies.histogram)
        return [Quantity.time(latencies.meanNanoseconds)] + [50, 90, 99, 99.9].map { Quantity.time(histogram.value(at: $0)) }
            + [Quantity.time(latencies.maxNanoseconds)]
    }

    /// Response times over the percentiles, as bars.
    private var percentileCurve: [String] {
        let latencies = headline.responseTime
        guard latencies.count >= 100 else { return [] }
        let histogram = LatencyHistogram(latencies.histogram)
        let points: [Double] = [10, 25, 50, 75, 90, 95, 99, 99.9, 99.99, 100].filter { $0 == 100 || Double(latencies.count) * (100 - $0) / 100 >= 1 }
        let longest = log10(Double(max(2, histogram.longest)))
        let shortest = log10(Double(max(1, histogram.value(at: 10)))) - 0.3
        return points.map { percentile in
            let value = histogram.value(at: percentile)
            let share = (log10(Double(max(1, value))) - shortest) / max(0.1, longest - shortest)
            let bar = String(repeating: "█", count: max(1, Int(48 * min(1, max(0, share)))))
            return "  p\(Quantity.percentile(percentile))".padding(toLength: 10, withPad: " ", startingAt: 0)
                + TextTable.right(Quantity.time(value), 9) + "  " + bar
        }
    }

    private var operationTable: [String] {
        guard operations.count > 1 else { return [] }
        var table = TextTable(["", "calls", "failed", "rate", "p50", "p99", "max"])
        for operation in operations where operation.sent > 0 || operation.failed > 0 {
            let histogram = LatencyHistogram(operation.responseTime.histogram)
            let ended = operation.succeeded + operation.failed
            table.add([
                TextTable.cut(operation.name, 24), Quantity.count(ended), Quantity.count(operation.failed),
                Self.rate(totals.elapsedNanoseconds > 0 ? Double(operation.succeeded) / totals.elapsedSeconds : 0),
                Quantity.time(histogram.value(at: 50)),
                Quantity.time(histogram.value(at: 99)), Quantity.time(histogram.longest),
            ])
        }
        return table.lines
    }

    private var stepTable: [String] {
        guard !steps.isEmpty else { return [] }
        var table = TextTable([settings.loop == .open ? "step, due" : "step, users", "good", "failed", "p50", "p99", "lateness", ""])
        for step in steps {
            let histogram = LatencyHistogram(step.totals.responseTime.histogram)
            table.add([
                Quantity.number(step.level), Self.rate(step.totals.rate), Quantity.share(step.totals.errorShare),
                Quantity.time(histogram.value(at: 50)),
                Quantity.time(histogram.value(at: 99)), Quantity.time(step.lagP99Nanoseconds), Self.verdict(ofText: step),
            ])
        }
        return table.lines + (knee.map { [""] + TextTable.wrap($0.explanation, 78).map { "  \($0)" } } ?? [])
    }

    private static func verdict(ofText step: StepResult) -> String {
        if step.failure == .generator || step.failure == nil && step.hasLateTool { return step.failure == nil ? "ok, tool late" : "tool late" }
        return step.failure?.rawValue ?? "ok"
    }

    /// The table of a joined report.
    private var generatorTable: [String] {
        guard let generators else { return [] }
        var table = TextTable(["generator", "good", "failed", "p50", "p99", "late", ""])
        for generator in generators {
            let failed = generator.succeeded + generator.failed > 0 ? Double(generator.failed) / Double(generator.succeeded + generator.failed) : 0
            table.add([
                TextTable.cut(generator.name, 20), Self.rate(generator.rate), Quantity.share(failed),
                Quantity.time(generator.p50Nanoseconds), Quantity.time(generator.p99Nanoseconds), Quantity.time(generator.lagP99Nanoseconds),
                generator.wasBottleneck ? "tool late" : "ok",
            ])
        }
        return table.lines
    }

    private var errorTable: [String] {
        guard !errors.isEmpty else { return [] }
        return ["  failed by code:"]
            + errors.prefix(12).map {
                TextTable.cut("    \(TextTable.right(Quantity.count($0.count), 9))  \($0.code)\($0.example.map { ": \($0)" } ?? "")", 80)
            }
            + (errors.count > 12 ? ["    and \(errors.count - 12) further codes"] : [])
    }

    private var remarks: [String] {
        var remarks: [String] = []
        if let explanation = generator.explanation { remarks.append("The tool was the bottleneck. \(explanation)") }
        if totals.dropped > 0 {
            remarks.append(
                "\(Quantity.count(totals.dropped)) iterations were not started, because \(Quantity.count(settings.maxOutstanding)) were under way: the response times do not have them."
            )
        }
        remarks += joining ?? []
        return remarks.flatMap { TextTable.wrap("! \($0)", 78).map { "  \($0)" } }
    }

    private var warning: [String] { isOfDebugBuild ? [ServiceBuild.warning] : [] }

    private var assertionLines: [String] {
        assertions.map { TextTable.cut("  \($0.hasHeld ? "held  " : "FAILED")  \($0.text)  (\($0.measured))", 80) }
    }

    // MARK: Words

    private static let endings: [RunFacts.End: String] = [
        .interrupted: "interrupted", .calls: "all calls made", .stopCondition: "stopped early", .targetLost: "the service was lost",
    ]

    static func rate(_ perSecond: Double) -> String { "\(Quantity.number(perSecond))/s" }
}

extension LoadReport {
    /// The time series, a line per second, for spreadsheets (RFC 4180).
    public func csv() -> String {
        let head = [
            "second", "warm_up", "due", "not_started", "sent", "succeeded", "failed", "in_flight", "connections", "p50_ms", "p90_ms", "p99_ms",
            "max_ms",
            "lag_ms",
        ]
        let lines = series.map { sample in
            let times = [
                sample.p50Nanoseconds, sample.p90Nanoseconds, sample.p99Nanoseconds, sample.maxNanoseconds, sample.lagNanoseconds,
            ].map { String(format: "%.3f", Double($0) / 1e6) }
            let counts = [sample.due, sample.dropped, sample.sent, sample.succeeded, sample.failed, sample.inFlight, sample.connections].map(
                String.init)
            return ([String(format: "%.3f", sample.second), sample.isWarmUp ? "1" : "0"] + counts + times).joined(separator: ",")
        }
        return ([head.joined(separator: ",")] + lines).joined(separator: "\r\n") + "\r\n"
    }

    /// The percentiles of the response times in the form of HdrHistogram's tools, in milliseconds.
    public func percentileDistribution() -> String { LatencyHistogram(totals.responseTime.histogram).percentileDistribution() }
}
