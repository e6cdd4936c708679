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
