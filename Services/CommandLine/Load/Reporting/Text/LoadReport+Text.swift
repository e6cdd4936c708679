internal import Foundation

extension LoadReport {
    /// The report for a terminal, at most 80 columns wide.
    public func text() -> String {
        let sections: [[String]] = [
            heading, counts, latencyTable, percentileCurve, operationTable, stepTable, errorTable, remarks, assertionLines, warning,
        ]
        return sections.filter { !$0.isEmpty }.map { $0.joined(separator: "\n") }.joined(separator: "\n\n") + "\n"
    }

    private var heading: [String] {
        var lines = ["\(run.name.map { "\($0): " } ?? "")\(settings.service), \(settings.workload)"]
        lines[0] = TextTable.cut(lines[0], 80)
        let level =
            settings.fromLevel == settings.toLevel
            ? Self.number(settings.fromLevel) : "\(Self.number(settings.fromLevel))..\(Self.number(settings.toLevel))"
        let loop = settings.loop == .open ? "open loop, \(level)/s \(settings.arrivals?.rawValue ?? "")" : "closed loop, \(level) users"
        lines.append("  \(loop); \(settings.connections) connections, \(settings.workers) threads")
        lines.append(TextTable.cut("  \(settings.targets.joined(separator: ", "))\(settings.isIsolated ? ", peers played by the tool" : "")", 80))
        lines.append(TextTable.cut("  \(machine.processor), \(machine.cores) cores", 80))
        lines.append("  service: \((serviceBuild ?? .unknown).rawValue) build; this tool: \(machine.build) build")
        if !run.tags.isEmpty {
            lines.append(TextTable.cut("  " + run.tags.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: " "), 80))
        }
        return lines
    }

    private var counts: [String] {
        let totals = headline
        var rows = headlineStep.map { [["step", "\(name(of: $0, Self.number)); the table below has all"]] } ?? []
        rows += [
            ["measured", String(format: "%.1f s", totals.elapsedSeconds) + (Self.endings[run.end].map { " (\($0))" } ?? "")],
            ["good answers", "\(totals.succeeded)  (\(Self.rate(totals.rate)))"],
            ["failed", "\(totals.failed)  (\(Self.share(totals.errorShare)))"],
        ]
        if totals.iterations != totals.succeeded + totals.failed { rows.append(["iterations", "\(totals.iterations) whole of \(totals.due) due"]) }
        if settings.loop == .open {
            rows.insert(["due", "\(totals.due)  (\(Self.rate(totals.dueRate)))"], at: steps.isEmpty ? 1 : 2)
            rows.append(["not started", "\(totals.dropped)  (\(Self.share(totals.droppedShare)))"])
        }
        if totals.unfinished > 0 { rows.append(["unfinished", "\(totals.unfinished)"]) }
        rows.append(["sent, received", "\(Self.bytes(totals.requestBytes)), \(Self.bytes(totals.answerBytes))"])
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
        return [TimeText.text(latencies.meanNanoseconds)] + [50, 90, 99, 99.9].map { TimeText.text(histogram.value(at: $0)) }
            + [TimeText.text(latencies.maxNanoseconds)]
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
            return "  p\(Self.percentile(percentile))".padding(toLength: 10, withPad: " ", startingAt: 0)
                + TextTable.right(TimeText.text(value), 9) + "  " + bar
        }
    }

    private var operationTable: [String] {
        guard operations.count > 1 else { return [] }
        var table = TextTable(["", "calls", "failed", "rate", "p50", "p99", "max"])
        for operation in operations where operation.sent > 0 || operation.failed > 0 {
            let histogram = LatencyHistogram(operation.responseTime.histogram)
            let ended = operation.succeeded + operation.failed
            table.add([
                TextTable.cut(operation.name, 24), "\(ended)", "\(operation.failed)",
                Self.rate(totals.elapsedNanoseconds > 0 ? Double(operation.succeeded) / totals.elapsedSeconds : 0),
                TimeText.text(histogram.value(at: 50)),
                TimeText.text(histogram.value(at: 99)), TimeText.text(histogram.longest),
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
                Self.number(step.level), Self.rate(step.totals.rate), Self.share(step.totals.errorShare), TimeText.text(histogram.value(at: 50)),
                TimeText.text(histogram.value(at: 99)), TimeText.text(step.lagP99Nanoseconds), Self.verdict(ofText: step),
            ])
        }
        return table.lines + (knee.map { [""] + TextTable.wrap($0.explanation, 78).map { "  \($0)" } } ?? [])
    }

    private static func verdict(ofText step: StepResult) -> String {
        if step.failure == .generator || step.failure == nil && step.hasLateTool { return step.failure == nil ? "ok, tool late" : "tool late" }
        return step.failure?.rawValue ?? "ok"
    }

    private var errorTable: [String] {
        guard !errors.isEmpty else { return [] }
        return ["  failed by code:"]
            + errors.prefix(12).map { TextTable.cut("    \(TextTable.right("\($0.count)", 9))  \($0.code)\($0.example.map { ": \($0)" } ?? "")", 80) }
            + (errors.count > 12 ? ["    and \(errors.count - 12) further codes"] : [])
    }

    private var remarks: [String] {
        var remarks: [String] = []
        if let explanation = generator.explanation { remarks.append("The tool was the bottleneck. \(explanation)") }
        if totals.dropped > 0 {
            remarks.append(
                "\(totals.dropped) iterations were not started, because \(settings.maxOutstanding) were under way: the response times do not have them."
            )
        }
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

    static func rate(_ perSecond: Double) -> String { "\(number(perSecond))/s" }

    static func number(_ value: Double) -> String { String(format: value >= 100 || value == value.rounded() ? "%.0f" : "%.1f", value) }

    static func share(_ share: Double) -> String { share == 0 ? "0 %" : String(format: share < 0.0001 ? "%.4f %%" : "%.2f %%", share * 100) }

    private static func percentile(_ value: Double) -> String { value == value.rounded() ? String(Int(value)) : String(value) }

    static func bytes(_ count: Int) -> String {
        for (unit, size) in [("GB", 1e9), ("MB", 1e6), ("kB", 1e3)] where Double(count) >= size {
            return String(format: "%.1f %@", Double(count) / size, unit)
        }
        return "\(count) B"
    }
}
