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
