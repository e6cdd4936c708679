extension LoadReport {
    /// What is charted: a last sample of a fraction of a second would show as a leap.
    private var shown: [SecondSample] { series.filter { $0.elapsedNanoseconds >= 500_000_000 || series.count == 1 } }

    private var times: [Double] { shown.map(\.second) }

    private var timeScale: AxisScale { AxisScale(exactly: min(0, (times.first ?? 0) - 1)...max(1, times.last ?? 1)) }

    private func timeChart(
        _ title: String, _ caption: String, lines: [Chart.Line], scale: AxisScale? = nil, text: @escaping @Sendable (Double) -> String
    ) -> Chart {
        Chart(
            title: title, caption: caption, x: times, xScale: timeScale, xTitle: "s", xText: { Quantity.number($0) }, lines: lines,
            yScale: scale ?? AxisScale(linearTo: Chart.tallest(lines)), yText: text, warmUpEnd: shown.contains(where: \.isWarmUp) ? 0 : nil)
    }

    var latencyChart: Chart? {
        let seen = shown.map { $0.succeeded + $0.failed > 0 }
        guard seen.contains(true) else { return nil }
        func line(_ name: String, _ colour: Int, _ value: (SecondSample) -> Int64) -> Chart.Line {
            Chart.Line(name: name, values: zip(shown, seen).map { $1 ? Double(value($0)) : nil }, colour: colour)
        }
        let lines = [line("p50", 0) { $0.p50Nanoseconds }, line("p99", 1) { $0.p99Nanoseconds }, line("max", 7) { $0.maxNanoseconds }]
        let scale = AxisScale(logarithmicFrom: Chart.smallest(lines) ?? 1e6, to: Chart.tallest(lines))
        var chart = timeChart(
            "Latency over time", "Each second: half of the calls were faster than p50, 99 of 100 faster than p99. Logarithmic.", lines: lines,
            scale: scale
        ) { Quantity.time($0) }
        chart.levels = assertedBounds
        return chart
    }

    /// Upper bounds that assertions put on the 50th or 99th percentile or the maximum.
    private var assertedBounds: [Chart.Mark] {
        assertions.compactMap { assertion -> Chart.Mark? in
            let text = assertion.text.filter { !$0.isWhitespace }
            guard let match = text.firstMatch(of: /^(p50|p99|max)<=?([0-9.]+)(ns|us|µs|ms|s)$/), let number = Double(match.2) else { return nil }
            return Chart.Mark(value: number * (Self.nanoseconds[String(match.3)] ?? 1), label: assertion.text)
        }
    }

    private static let nanoseconds: [String: Double] = ["ns": 1, "us": 1e3, "µs": 1e3, "ms": 1e6, "s": 1e9]

    var throughputChart: Chart? {
        guard !shown.isEmpty else { return nil }
        let seconds = shown.map { max(1e-9, Double($0.elapsedNanoseconds) / 1e9) }
        func rate(_ value: (SecondSample) -> Int) -> [Double?] { zip(shown, seconds).map { Double(value($0)) / $1 } }
        var lines = [Chart.Line(name: "good answers", values: rate(\.succeeded), style: .area, colour: 2)]
        if totals.failed > 0 || shown.contains(where: { $0.failed > 0 }) {
            lines.append(Chart.Line(name: "failed", values: rate(\.failed), colour: 1))
        }
        let isMultiple = operations.count > 1
        lines.append(
            Chart.Line(
                name: settings.loop == .open ? (isMultiple ? "iterations due" : "due") : "iterations begun", values: rate(\.due), style: .dashed,
                colour: 0))
        if isMultiple { lines.append(Chart.Line(name: "calls sent", values: rate(\.sent), colour: 3)) }
        if totals.dropped > 0 { lines.append(Chart.Line(name: "dropped", values: rate(\.dropped), colour: 5)) }
        var chart = timeChart("Throughput", "Calls per second: what was due, and what came back.", lines: lines) { "\(Quantity.number($0))/s" }
        chart.condensing = .mean
        return chart
    }

    var errorChart: Chart? {
        let codes = errorCodes
        guard !codes.isEmpty else { return nil }
        let named = codes.prefix(ChartDrawing.palette - 1)
        var lines = named.enumerated().map { number, code in
            Chart.Line(name: code, values: shown.map { Self.rate($0.errors[code] ?? 0, $0) }, style: .stacked, colour: Self.errorColours[number % 8])
        }
        if codes.count > named.count {
            let rest = codes.dropFirst(named.count)
            lines.append(
                Chart.Line(
                    name: "other codes", values: shown.map { sample in Self.rate(rest.reduce(0) { $0 + (sample.errors[$1] ?? 0) }, sample) },
                    style: .stacked, colour: 7))
        }
        var chart = timeChart("Errors by code", "Failed calls per second, stacked.", lines: lines) { "\(Quantity.number($0))/s" }
        chart.condensing = .mean
        return chart
    }

    private static let errorColours = [1, 3, 5, 4, 0, 6, 2, 7]

    /// Most frequent first.
    private var errorCodes: [String] {
        let counts = shown.reduce(into: [String: Int]()) { counts, sample in
            for (code, count) in sample.errors where count > 0 { counts[code, default: 0] += count }
        }
        return counts.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map(\.key)
    }

    private static func rate(_ count: Int, _ sample: SecondSample) -> Double? { Double(count) / max(1e-9, Double(sample.elapsedNanoseconds) / 1e9) }

    var inFlightChart: Chart? {
        guard !shown.isEmpty else { return nil }
        let lines = [
            Chart.Line(name: "outstanding", values: shown.map { Double($0.inFlight) }, style: .area, colour: 3),
            Chart.Line(name: "connections", values: shown.map { Double($0.connections) }, colour: 7),
        ]
        return timeChart("Outstanding calls", "Sent and not yet answered, or waiting for a connection, at the end of each second.", lines: lines) {
            Quantity.number($0)
        }
    }
}
