extension LoadReport {
    var assertionTable: PageContent.Table {
        PageContent.Table(
            head: [.init("Assertion"), .init("Measured", kind: "text"), .init("Verdict", kind: "text")],
            rows: assertions.map { assertion in
                PageContent.Row(
                    name: assertion.text,
                    cells: [
                        .init(assertion.measured, kind: "text"),
                        .init(assertion.hasHeld ? "passed" : "failed", kind: "text", badge: assertion.hasHeld ? "passed" : "failed"),
                    ])
            })
    }

    var operationTables: [PageContent.Table] {
        var rows = operations.map { row($0.name, sent: $0.sent, good: $0.succeeded, failed: $0.failed, $0.responseTime) }
        if operations.count > 1 {
            rows.append(row("all calls", sent: totals.sent, good: totals.succeeded, failed: totals.failed, totals.responseTime, kind: "total"))
        }
        if let iterationTime, iterationTime.count > 0 {
            rows.append(row("whole iteration", sent: totals.due - totals.dropped, good: totals.iterations, failed: nil, iterationTime, kind: "total"))
        }
        let head = [operations.count > 1 ? "Step" : "Method", "Sent", "Good", "Failed", "Good/s", "Mean", "p50", "p90", "p99", "p99.9", "Longest"]
        return (rows.isEmpty ? [] : [PageContent.Table(head: head.map { .init($0) }, rows: rows)]) + errorTables
    }

    private func row(_ name: String, sent: Int, good: Int, failed: Int?, _ latency: Latencies, kind: String = "") -> PageContent.Row {
        let rate = totals.elapsedSeconds > 0 ? Double(good) / totals.elapsedSeconds : 0
        let times =
            latency.count == 0
            ? Array(repeating: "–", count: 6)
            : [Quantity.time(latency.meanNanoseconds)] + [50, 90, 99, 99.9].map { time(latency, $0) } + [Quantity.time(latency.maxNanoseconds)]
        let counts = [Quantity.count(sent), Quantity.count(good), failed.map(Quantity.count) ?? "–", Quantity.number(rate)]
        return PageContent.Row(name: name, cells: (counts + times).map { .init($0) }, kind: kind)
    }

    private var errorTables: [PageContent.Table] {
        guard !errors.isEmpty else { return [] }
        let total = totals.succeeded + totals.failed
        return [
            PageContent.Table(
                head: [.init("Error"), .init("Calls"), .init("Share of all calls"), .init("One of them", kind: "text")],
                rows: errors.map { error in
                    PageContent.Row(
                        name: error.code,
                        cells: [
                            .init(Quantity.count(error.count)), .init(total > 0 ? Quantity.share(Double(error.count) / Double(total)) : "–"),
                            .init(error.example ?? "–", kind: "text wide"),
                        ])
                })
        ]
    }

    /// The table of a joined report.
    static func generatorTable(_ generators: [GeneratorResult]) -> PageContent.Table {
        PageContent.Table(
            head: ["Generator", "Good answers/s", "p50", "p99", "Errors", "Dropped", "Tool late, p99", "Tool's cores", "Connections"].map {
                .init($0)
            }
                + [.init("Could it do more?", kind: "text"), .init("Machine", kind: "text wide")],
            rows: generators.map { generator in
                let ended = generator.succeeded + generator.failed
                let cells = [
                    Quantity.number(generator.rate), Quantity.time(generator.p50Nanoseconds), Quantity.time(generator.p99Nanoseconds),
                    Quantity.share(ended > 0 ? Double(generator.failed) / Double(ended) : 0), Quantity.count(generator.dropped),
                    Quantity.time(generator.lagP99Nanoseconds), Quantity.number(generator.processorShare), Quantity.count(generator.connections),
                ]
                let machine = generator.machine
                return PageContent.Row(
                    name: generator.name,
                    cells: cells.map { .init($0) } + [
                        .init(
                            generator.wasBottleneck ? "no: it was the limit" : "yes", kind: "text",
                            badge: generator.wasBottleneck ? "failed" : "passed"),
                        .init("\(machine.processor), \(machine.cores) cores, \(machine.system), \(machine.build) build", kind: "text wide"),
                    ])
            })
    }

    var settingsPairs: PageContent.Pairs {
        var rows: [(name: String, value: String)] = [
            ("Service", settings.service), ("Build of the service", (serviceBuild ?? .unknown).rawValue),
            ("Called at", settings.targets.joined(separator: ", ")), ("Workload", settings.workload),
        ]
        switch settings.loop {
        case .open:
            let arrivals = settings.arrivals.map { $0 == .poisson ? ", at random times (Poisson)" : ", evenly spread" } ?? ""
            rows.append(("Load", "\(Self.levels(settings)) iterations per second, open loop\(arrivals)"))
        case .closed: rows.append(("Load", "\(Self.levels(settings)) users, closed loop"))
        }
        rows += [
            ("Connections", "\(Quantity.count(settings.connections)), on \(settings.workers) threads"),
            ("At most outstanding", Quantity.count(settings.maxOutstanding)), ("Timeout of a call", Quantity.span(settings.timeoutNanoseconds)),
            ("Warm-up", Quantity.span(settings.warmUpNanoseconds)),
            ("Measured", "\(Quantity.span(totals.elapsedNanoseconds)) of \(Quantity.span(settings.durationNanoseconds)) planned"),
        ]
        if let limit = settings.callLimit { rows.append(("At most calls", Quantity.count(limit))) }
        rows += [
            ("Seed", String(settings.seed)),
            ("Sent and received", "\(Quantity.bytes(Double(totals.requestBytes))), \(Quantity.bytes(Double(totals.answerBytes)))"),
        ]
        if totals.unfinished > 0 { rows.append(("Without an answer at the end", Quantity.count(totals.unfinished))) }
        return PageContent.Pairs(title: "Settings", rows: rows)
    }

    var machinePairs: PageContent.Pairs {
        let lag = generator.lag
        var rows: [(name: String, value: String)] = [
            ("Processor", machine.processor), ("Cores", String(machine.cores)), ("Memory", Quantity.bytes(Double(machine.memoryBytes))),
            ("System", machine.system), ("Build of the tool", machine.build),
            ("CPU of the tool", "\(Quantity.number(generator.processorShare)) cores"),
        ]
        if lag.count > 0 {
            rows.append(("Lateness of the tool", "p50 \(time(lag, 50)), p99 \(time(lag, 99)), at most \(Quantity.time(lag.maxNanoseconds))"))
        }
        return PageContent.Pairs(title: "Where the tool ran", rows: rows)
    }
}

extension LoadReport {
    /// The samples in the chart: a last sample of a fraction of a second would show as a leap.
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
