internal import Foundation

extension ReportComparison {
    /// The differences between the settings of both runs.
    static func differences(_ base: LoadReport, _ new: LoadReport) -> [String] {
        let (old, young) = (base.settings, new.settings)
        var found: [String] = []
        func check(_ what: String, _ left: String, _ right: String) {
            if left != right { found.append("\(what): \(left), then \(right)") }
        }
        check("different services", old.service, young.service)
        check("different workloads", old.workload, young.workload)
        check("different loops", old.loop.rawValue, young.loop.rawValue)
        check("different arrivals", old.arrivals?.rawValue ?? "none", young.arrivals?.rawValue ?? "none")
        check("different load", LoadReport.levels(old), LoadReport.levels(young))
        check("different connections", String(old.connections), String(young.connections))
        check("different threads of the tool", String(old.workers), String(young.workers))
        check("different warm-up", Quantity.span(old.warmUpNanoseconds), Quantity.span(young.warmUpNanoseconds))
        check("different timeouts", Quantity.span(old.timeoutNanoseconds), Quantity.span(young.timeoutNanoseconds))
        check("different limits of outstanding calls", Quantity.count(old.maxOutstanding), Quantity.count(young.maxOutstanding))
        check("with doubles of the peers", old.isIsolated ? "yes" : "no", young.isIsolated ? "yes" : "no")
        let (here, there) = (base.machine, new.machine)
        check("different processors", here.processor, there.processor)
        check("different numbers of cores", String(here.cores), String(there.cores))
        check("different systems", here.system, there.system)
        check("different builds of the service", (base.serviceBuild ?? .unknown).rawValue, (new.serviceBuild ?? .unknown).rawValue)
        check("different builds of the tool", here.build, there.build)
        check("different versions of the tool", base.run.toolVersion, new.run.toolVersion)
        let memory = (Double(here.memoryBytes), Double(there.memoryBytes))
        if abs(memory.0 - memory.1) > 0.05 * max(memory.0, memory.1) { check("different memory", Quantity.bytes(memory.0), Quantity.bytes(memory.1)) }
        let times = (base.totals.elapsedSeconds, new.totals.elapsedSeconds)
        if min(times.0, times.1) * 1.5 < max(times.0, times.1) {
            check("different lengths", Quantity.span(base.totals.elapsedNanoseconds), Quantity.span(new.totals.elapsedNanoseconds))
        }
        return found
    }

    /// Returns why one run alone says little.
    static func shortcomings(_ report: LoadReport, _ name: String) -> [String] {
        var found: [String] = []
        if report.generator.wasBottleneck { found.append("\(name): the load tool was the limit, not the service") }
        if report.serviceBuild == .debug { found.append("\(name): the service was a \(ServiceBuild.warning)") }
        if report.machine.build != "release" { found.append("\(name): made by a \(report.machine.build) build of the tool") }
        if report.run.end == .interrupted || report.run.end == .targetLost { found.append("\(name): the run ended early") }
        if report.totals.droppedShare > 0.001 {
            found.append("\(name): \(Quantity.share(report.totals.droppedShare)) of the due iterations were dropped and are in no latency")
        }
        if report.seconds(of: .rate).count < SecondsComparison.leastSeconds {
            found.append("\(name): fewer than \(SecondsComparison.leastSeconds) measured seconds, too few to tell a difference from noise")
        }
        return found
    }
}

extension ReportComparison {
    /// For the terminal, 80 columns wide.
    public func text() -> String {
        var lines = ["base  \(names.base): \(Self.about(base))", "new   \(names.new): \(Self.about(new))", ""]
        for warning in warnings { lines.append("! \(warning)") }
        if !warnings.isEmpty { lines.append("") }
        lines.append(Self.row("", "base", "new", "ratio", "noise (95 %)", ""))
        lines += figures.map(Self.row)
        if !operations.isEmpty {
            lines += ["", "by step"]
            lines += operations.map(Self.row)
        }
        if !assertions.isEmpty {
            lines.append("")
            lines += assertions.map { "\($0.hasHeld ? "passed" : "FAILED")  \($0.text)  (\($0.measured))" }
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private static func about(_ report: LoadReport) -> String {
        "\(report.settings.service), \(report.settings.workload), \(LoadReport.levels(report.settings)), \(report.startedAt)"
    }

    private static func row(_ figure: ComparedFigure) -> String {
        row(
            figure.operation.map { "\($0) \(figure.kind.name)" } ?? figure.kind.title, figure.kind.text(figure.base), figure.kind.text(figure.new),
            figure.ratioText, figure.noiseText, figure.verdict == .unknown ? "" : figure.verdict.rawValue)
    }

    private static func row(_ name: String, _ base: String, _ new: String, _ ratio: String, _ noise: String, _ verdict: String) -> String {
        let cells = [name.padded(22), base.padded(9, isRight: true), new.padded(9, isRight: true), ratio.padded(7, isRight: true)]
        let line = cells.joined(separator: " ") + "  " + noise.padded(16) + " " + verdict
        return String(line.reversed().drop { $0 == " " }.reversed())
    }
}

extension String {
    fileprivate func padded(_ width: Int, isRight: Bool = false) -> String {
        let blanks = String(repeating: " ", count: max(0, width - count))
        return isRight ? blanks + self : self + blanks
    }
}

extension ReportComparison {
    /// For programs: the figures as they are, seconds and shares.
    public func json() throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        let document = Document(
            hasPassed: hasPassed, base: names.base, new: names.new, warnings: warnings, figures: figures.map(Document.Figure.init),
            operations: operations.map(Document.Figure.init),
            assertions: assertions.map { Document.Assertion(text: $0.text, measured: $0.measured, hasHeld: $0.hasHeld) })
        return String(decoding: try encoder.encode(document), as: UTF8.self) + "\n"
    }

    private struct Document: Encodable {
        struct Figure: Encodable {
            /// The step; absent: of all calls.
            let operation: String?
            let name: String
            let base: Double
            let new: Double
            /// Absent where the base is 0.
            let ratio: Double?
            /// Between which ratios chance alone may have put the typical second; absent where that is not known.
            let noise: [Double]?
            let verdict: String

            init(_ figure: ComparedFigure) {
                (operation, name, base, new, ratio) = (figure.operation, figure.kind.name, figure.base, figure.new, figure.ratio)
                noise = figure.seconds.map { [$0.low, $0.high] }.flatMap { $0.allSatisfy(\.isFinite) ? $0 : nil }
                verdict = figure.verdict.rawValue
            }
        }

        struct Assertion: Encodable {
            let text: String
            let measured: String
            let hasHeld: Bool
        }

        let hasPassed: Bool
        let base: String
        let new: String
        let warnings: [String]
        let figures: [Figure]
        let operations: [Figure]
        let assertions: [Assertion]
    }
}

extension ReportComparison {
    /// One self-contained page.
    /// - Throws: When the page's own template is broken.
    public func html() throws -> String { try Page.render(pageContent) }

    var pageContent: PageContent {
        let kind: PageContent.Verdict = assertions.isEmpty ? .neutral : hasPassed ? .passed : .failed
        var content = PageContent(
            title: "Load tests compared: \(names.base), \(names.new)", heading: "\(new.settings.service): \(names.new) against \(names.base)",
            subtitle: "\(new.settings.workload) · base of \(base.startedAt), new of \(new.startedAt)",
            verdict: assertions.isEmpty ? "no assertions" : kind.rawValue, verdictKind: kind,
            footer: "boxoffice load compare · base run \(base.run.id), new run \(new.run.id)")
        content.notes = warnings.map { .init(text: $0) }
        content.tiles = figures.filter { $0.kind != .mean }.map { figure in
            PageContent.Tile(
                name: figure.kind.title, value: figure.ratioText, more: "\(figure.kind.text(figure.base)) → \(figure.kind.text(figure.new))",
                kind: Self.badge(figure.verdict) == "neutral" ? "" : Self.badge(figure.verdict))
        }
        content.sections = [
            PageContent.Section(title: "Assertions", tables: assertions.isEmpty ? [] : [assertionTable]),
            PageContent.Section(title: "Figures", lead: Self.explanation, tables: [table(figures)]),
            PageContent.Section(title: "Side by side", charts: charts),
            PageContent.Section(title: "Steps", tables: operations.isEmpty ? [] : [table(operations)]),
            PageContent.Section(
                title: "Settings and machines",
                pairs: [base, new].enumerated().flatMap { number, report -> [PageContent.Pairs] in
                    let name = number == 0 ? names.base : names.new
                    return [report.settingsPairs, report.machinePairs].map { PageContent.Pairs(title: "\(name): \($0.title)", rows: $0.rows) }
                }),
        ]
        return content
    }

    private static let explanation = """
        The ratio is that of the whole runs. The noise interval is that of the typical second: neighbouring seconds are put together to at most 20 \
        blocks, which are drawn anew 1000 times; 95 % of the ratios of their medians lie in it. Where it holds 1, chance may have made the difference.
        """

    private static func badge(_ verdict: ComparedFigure.Verdict) -> String {
        switch verdict {
        case .better: "passed"
        case .worse: "failed"
        case .same, .noise, .fewSeconds, .unknown: "neutral"
        }
    }

    private static func cell(_ verdict: ComparedFigure.Verdict) -> PageContent.Cell {
        verdict == .unknown ? .init("–", kind: "text") : .init(verdict.rawValue, kind: "text", badge: badge(verdict))
    }

    private var assertionTable: PageContent.Table {
        PageContent.Table(
            head: [.init("Assertion"), .init("Measured", kind: "text"), .init("Verdict", kind: "text")],
            rows: assertions.map { outcome in
                let word = outcome.hasHeld ? "passed" : "failed"
                return PageContent.Row(
                    name: outcome.text, cells: [.init(outcome.measured, kind: "text"), .init(word, kind: "text", badge: word)])
            })
    }

    private func table(_ figures: [ComparedFigure]) -> PageContent.Table {
        PageContent.Table(
            head: ["", names.base, names.new, "Ratio", "Noise (95 %)"].map { .init($0) } + [.init("Verdict", kind: "text")],
            rows: figures.map { figure in
                let cells = [figure.kind.text(figure.base), figure.kind.text(figure.new), figure.ratioText, figure.noiseText]
                return PageContent.Row(
                    name: figure.name,
                    cells: cells.map { .init($0) } + [Self.cell(figure.verdict)])
            })
    }

    private var charts: [Chart] {
        let runs = [(names.base, base, 7), (names.new, new, 0)]
        let percentiles = LoadReport.percentiles(
            "Percentile curve", "From when a call was due to its answer. Both axes logarithmic.", runs.map { ($0, $1.totals.responseTime, $2) })
        let timed: [(String, FigureKind, (SecondSample) -> Double?)] = [
            ("p50 over time", .percentile(50), { $0.succeeded + $0.failed > 0 ? Double($0.p50Nanoseconds) : nil }),
            ("p99 over time", .percentile(99), { $0.succeeded + $0.failed > 0 ? Double($0.p99Nanoseconds) : nil }),
            ("Good answers", .rate, { Double($0.succeeded) / max(1e-9, Double($0.elapsedNanoseconds) / 1e9) }),
        ]
        return [percentiles].compactMap { $0 } + timed.compactMap { chart($0, $1, $2) }
    }

    /// Both runs from the beginning of their measured part.
    private func chart(_ title: String, _ kind: FigureKind, _ value: (SecondSample) -> Double?) -> Chart? {
        let runs = [base, new].map { $0.series.filter { !$0.isWarmUp } }
        let count = runs.map(\.count).max() ?? 0
        guard count > 1, let longest = runs.first(where: { $0.count == count }) else { return nil }
        let lines = runs.enumerated().map { number, samples in
            Chart.Line(
                name: number == 0 ? names.base : names.new, values: (0..<count).map { $0 < samples.count ? value(samples[$0]) : nil },
                colour: number == 0 ? 7 : 0)
        }
        let scale =
            kind == .rate
            ? AxisScale(linearTo: Chart.tallest(lines)) : AxisScale(logarithmicFrom: Chart.smallest(lines) ?? 1, to: Chart.tallest(lines))
        return Chart(
            title: title, caption: kind == .rate ? "Per second." : "Each second; logarithmic.", x: longest.map(\.second),
            xScale: AxisScale(exactly: 0...max(1, longest.last?.second ?? 1)), xTitle: "s", xText: { Quantity.number($0) }, lines: lines,
            yScale: scale,
            yText: { kind.text($0) })
    }
}
