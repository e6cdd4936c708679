extension LoadReport {
    var processSection: PageContent.Section {
        guard let observation, observation.seconds.count > 1 else { return PageContent.Section(title: "CPU and memory") }
        return PageContent.Section(title: "CPU and memory", charts: [processorChart(observation), memoryChart(observation)].compactMap { $0 })
    }

    var serviceSection: PageContent.Section {
        guard let observation, observation.seconds.count > 1 else { return PageContent.Section(title: "Inside the service") }
        let charts = observation.panels.map { panel in
            let lines = panel.series.enumerated().map { number, series in
                Chart.Line(
                    name: series.name, values: series.values, style: panel.series.count == 1 ? .area : .line, colour: Self.colour(series.name, number)
                )
            }
            let unit = panel.unit
            return observed(panel.title, Self.meaning(of: unit), observation, lines) { value in
                switch unit {
                case "ms": Quantity.time(value * 1e6)
                case "1/s": "\(Quantity.number(value))/s"
                default: Quantity.number(value)
                }
            }
        }
        return PageContent.Section(
            title: "Inside \(settings.service)", lead: "From its own metrics, read once a second in the same period.", charts: charts,
            tables: counterTables(observation))
    }

    private static func meaning(of unit: String) -> String {
        switch unit {
        case "ms": "Of what happened since the reading before; p99 as far as the service's buckets tell."
        case "1/s": "Per second, since the reading before."
        default: "At each reading."
        }
    }

    /// The same code has the same colour everywhere.
    private static func colour(_ name: String, _ number: Int) -> Int {
        switch name {
        case "ok", "200", "201", "204", "302": ["ok": 2, "200": 2, "201": 0, "204": 3, "302": 4][name] ?? 2
        case "overloaded", "429", "503", "unavailable": 1
        default: number % ChartDrawing.palette
        }
    }

    private func processorChart(_ observation: Observation) -> Chart? {
        var lines = observation.processes.filter { process in
            process.role != .peer || process.cores.contains { ($0 ?? 0) >= 0.005 }
        }.enumerated().map { number, process in
            Chart.Line(
                name: process.name, values: process.cores, style: process.role == .target ? .area : .line, colour: number % (ChartDrawing.palette - 1)
            )
        }
        if observation.machineCores.contains(where: { $0 != nil }) {
            lines.append(Chart.Line(name: "whole machine", values: observation.machineCores, colour: 7))
        }
        if observation.stolenCores.contains(where: { ($0 ?? 0) >= 0.01 }) {
            lines.append(Chart.Line(name: "taken by other guests of the host", values: observation.stolenCores, colour: 5))
        }
        guard lines.contains(where: { $0.values.contains { $0 != nil } }) else { return nil }
        var chart = observed("CPU", "Cores in use; 1 is one core fully busy.", observation, lines) { Quantity.number($0) }
        chart.yScale = AxisScale(linearTo: max(Chart.tallest(lines), Double(machine.cores)))
        chart.levels = [Chart.Mark(value: Double(machine.cores), label: "\(machine.cores) cores")]
        return chart
    }

    private func memoryChart(_ observation: Observation) -> Chart? {
        let lines = observation.processes.enumerated().map { number, process in
            Chart.Line(
                name: process.name, values: process.residentBytes, style: process.role == .target ? .area : .line,
                colour: number % (ChartDrawing.palette - 1))
        }
        guard lines.contains(where: { $0.values.contains { $0 != nil } }) else { return nil }
        let mebibyte = 1_048_576.0
        var chart = observed("Memory", "Resident set.", observation, lines) { Quantity.bytes($0) }
        // Ticks at round numbers of MiB.
        chart.yScale = AxisScale(linearTo: Chart.tallest(lines) / mebibyte).scaled(by: mebibyte)
        return chart
    }

    private func observed(
        _ title: String, _ caption: String, _ observation: Observation, _ lines: [Chart.Line], _ text: @escaping @Sendable (Double) -> String
    ) -> Chart {
        let seconds = observation.seconds
        var chart = Chart(
            title: title, caption: caption, x: seconds, xScale: AxisScale(exactly: min(0, seconds.first ?? 0)...max(1, seconds.last ?? 1)),
            xTitle: "s",
            xText: { Quantity.number($0) }, lines: lines, yScale: AxisScale(linearTo: Chart.tallest(lines)), yText: text,
            warmUpEnd: (seconds.first ?? 0) < 0 ? 0 : nil)
        chart.condensing = .mean
        return chart
    }

    private func counterTables(_ observation: Observation) -> [PageContent.Table] {
        guard !observation.counters.isEmpty else { return [] }
        return [
            PageContent.Table(
                head: [.init("Counter that grew"), .init("By"), .init("Per second")],
                rows: observation.counters.map { counter in
                    PageContent.Row(
                        name: counter.name,
                        cells: [
                            .init(Quantity.number(counter.growth)),
                            .init(totals.elapsedSeconds > 0 ? Quantity.number(counter.growth / totals.elapsedSeconds) : "–"),
                        ])
                })
        ]
    }
}

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
