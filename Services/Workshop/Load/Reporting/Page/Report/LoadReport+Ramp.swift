extension LoadReport {
    var rampSection: PageContent.Section {
        guard !steps.isEmpty else { return PageContent.Section(title: "Ramp") }
        return PageContent.Section(
            title: "Ramp", lead: knee?.explanation ?? "", charts: [rampLatency, rampThroughput].compactMap { $0 }, tables: [rampTable])
    }

    private var unit: String { settings.loop == .open ? "iterations/s" : "users" }

    private var levelScale: AxisScale { AxisScale(linearTo: steps.map(\.level).max() ?? 1, tickCount: 8) }

    /// As the text has it: a knee that was not reached is none.
    var kneeMark: [Chart.Mark] {
        guard let knee, knee.isReached, let level = knee.level else { return [] }
        return [Chart.Mark(value: level, label: "knee: \(Quantity.number(level))")]
    }

    private func rampChart(
        _ title: String, _ caption: String, _ lines: [Chart.Line], _ scale: AxisScale, _ text: @escaping @Sendable (Double) -> String
    ) -> Chart {
        Chart(
            title: title, caption: caption, x: steps.map(\.level), xScale: levelScale, xTitle: unit, xText: { Quantity.number($0) }, lines: lines,
            yScale: scale, yText: text, moments: kneeMark)
    }

    private var rampLatency: Chart? {
        let shown = [(50.0, 0), (99, 1), (99.9, 5)]
        let lines = shown.map { percentile, colour in
            Chart.Line(
                name: "p\(Quantity.percentile(percentile))",
                values: steps.map { step in
                    step.totals.responseTime.percentiles.first { $0.percentile == percentile && step.totals.responseTime.count > 0 }
                        .map { Double($0.nanoseconds) }
                }, colour: colour)
        }
        guard let least = Chart.smallest(lines) else { return nil }
        let scale = AxisScale(logarithmicFrom: least, to: Chart.tallest(lines))
        return rampChart("Latency by load", "Where the lines leave their floor, the service begins to queue. Logarithmic.", lines, scale) {
            Quantity.time($0)
        }
    }

    private var rampThroughput: Chart? {
        var lines = [
            Chart.Line(name: "good answers", values: steps.map { $0.totals.rate }, style: .area, colour: 2),
            Chart.Line(name: "iterations due", values: steps.map { $0.totals.dueRate }, style: .dashed, colour: 0),
        ]
        if steps.contains(where: { $0.totals.failed > 0 }) {
            lines.append(
                Chart.Line(
                    name: "failed", values: steps.map { $0.totals.elapsedSeconds > 0 ? Double($0.totals.failed) / $0.totals.elapsedSeconds : nil },
                    colour: 1))
        }
        return rampChart("Throughput by load", "Calls per second at each step.", lines, AxisScale(linearTo: Chart.tallest(lines))) {
            "\(Quantity.number($0))/s"
        }
    }

    private var rampTable: PageContent.Table {
        PageContent.Table(
            head: ["Load, \(unit)", "Good answers/s", "p50", "p99", "p99.9", "Longest", "Errors", "Dropped", "Tool late, p99"].map { .init($0) }
                + [.init("Served well?", kind: "text")],
            rows: steps.map { step in
                let latency = step.totals.responseTime
                let cells = [
                    Quantity.number(step.totals.rate), time(latency, 50), time(latency, 99), time(latency, 99.9),
                    latency.count > 0 ? Quantity.time(latency.maxNanoseconds) : "–", Quantity.share(step.totals.errorShare),
                    Quantity.share(step.totals.droppedShare), Quantity.time(step.lagP99Nanoseconds),
                ]
                return PageContent.Row(
                    name: Quantity.number(step.level),
                    cells: cells.map { .init($0) }
                        + [.init(Self.verdict(step), kind: "text", badge: step.failure == nil ? "passed" : "failed")])
            })
    }

    static func verdict(_ step: StepResult) -> String {
        guard let failure = step.failure else { return step.hasLateTool ? "yes, though the tool was late" : "yes" }
        return reason(failure)
    }

    private static func reason(_ criterion: KneeCriterion) -> String {
        switch criterion {
        case .throughput: "no: fewer answers than due"
        case .latency: "no: too slow"
        case .errors: "no: too many errors"
        case .generator: "unknown: the tool was late"
        }
    }
}
