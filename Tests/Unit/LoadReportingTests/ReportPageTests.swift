import Foundation
import Testing

@testable import LoadReporting

@Suite struct ReportPageTests {
    private static let hostile = "</script><script>alert(1)</script><img src=x onerror='alert(2)'>\"&{{title}}]]>"

    /// The page with its own style and script taken out.
    private func body(_ page: String) -> String {
        page.replacing(/<style>(?s:.*?)<\/style>/, with: "").replacing(/<script>(?s:.*?)<\/script>\n<\/body>/, with: "</body>")
    }

    @Test func everyTextOfTheReportIsEscaped() throws {
        var full = FullReport()
        full.seconds = 12
        var report = full.report()
        let text = Self.hostile
        report.run.name = text
        report.run.id = text
        report.run.tags = [text: text]
        report.run.toolVersion = text
        report.run.commandLine = [text]
        report.settings.service = text
        report.settings.workload = text
        report.settings.targets = [text]
        report.machine = MachineFacts(processor: text, cores: 2, memoryBytes: 1, system: text, build: text)
        report.operations[0].name = text
        report.errors = [ErrorCount(code: text, count: 1, example: text)]
        report.series[8].errors = [text: 3]
        report.assertions = [AssertionResult(text: text, measured: text, hasHeld: false)]
        report.generator = GeneratorHealth(lag: report.totals.serviceTime, processorShare: 1, wasBottleneck: true, explanation: text)
        report.knee = Knee(level: 1, rate: 1, failedLevel: 2, criterion: .errors, explanation: text)
        report.steps = [StepResult(level: 1, totals: report.totals, lagP99Nanoseconds: 0)]
        report.observation?.remarks = [text]
        report.observation?.panels[0].title = text
        report.observation?.panels[0].series[0].name = text
        report.observation?.processes[0].name = text
        report.observation?.counters = [.init(name: text, growth: 1)]
        let page = try report.html()
        #expect(body(page).contains("alert(1)"), "the texts are there")
        #expect(!body(page).contains("<script") && !body(page).contains("<img"), "but not as markup")
        #expect(!body(page).contains("onerror='"), "a quote ends no attribute")
        #expect(page.components(separatedBy: "<script>").count == 2)
    }

    @Test func theScriptAndStyleAreThoseThatThePolicyNames() throws {
        var full = FullReport()
        full.seconds = 2
        let page = try full.report().html()
        let policy = try #require(page.firstMatch(of: /http-equiv="Content-Security-Policy" content="([^"]*)"/)).1
        #expect(policy.contains("default-src &#39;none&#39;") && !policy.contains("unsafe"))
        #expect(policy.matches(of: /sha256-[A-Za-z0-9+\/]{43}(=|&#x3D;|&#61;)/).count == 2, "\(policy)")
        #expect(!page.contains(" style=\"") && !page.contains(" onclick="), "which would be blocked")
    }

    @Test func nothingIsLoadedFromElsewhere() throws {
        var full = FullReport()
        full.seconds = 2
        let page = try full.report().html()
        for match in page.matches(of: /(?:src|href)\s*=\s*"([^"]*)"/) { #expect(match.1.hasPrefix("data:")) }
        #expect(!page.contains("@import") && !page.contains("url("))
    }

    @Test func theNumbersAreThereWithoutScript() throws {
        var full = FullReport()
        let report = full.report()
        let page = try report.html()
        #expect(page.contains("<dt>p99</dt><dd class=\"value \">\(Quantity.time(report.totals.responseTime.percentiles[4].nanoseconds))</dd>"))
        for operation in report.operations { #expect(page.contains("<th scope=\"row\">\(operation.name)</th>")) }
        let charts = page.components(separatedBy: "<svg class=\"chart\"").count - 1
        #expect(charts >= 9)
        #expect(page.components(separatedBy: "<details>").count - 1 == charts, "each chart has its table")
        #expect(page.components(separatedBy: "role=\"img\" aria-labelledby=").count - 1 == charts, "and says what it shows")
    }

    @Test func aLongRunDoesNotMakeALargePage() throws {
        var full = FullReport()
        var report = full.report()
        let second = try #require(report.series.last)
        report.series = (1...2000).map { number in
            var sample = second
            sample.second = Double(number)
            return sample
        }
        #expect(try report.html().utf8.count < 900_000)
    }

    @Test func aReportOfNothingIsAPageToo() throws {
        var report = SampleReport.make()
        let empty = LatencyHistogram().summary
        report.totals = RunTotals(
            elapsedNanoseconds: 0, due: 0, dropped: 0, iterations: 0, sent: 0, succeeded: 0, failed: 0, unfinished: 0, requestBytes: 0,
            answerBytes: 0,
            responseTime: empty, serviceTime: empty)
        (report.series, report.operations, report.errors, report.assertions) = ([], [], [], [])
        let page = try report.html()
        #expect(page.contains("no assertions"))
        #expect(!page.lowercased().contains(">nan") && !page.contains("NaN"))
    }

    @Test func whatWeakensTheFiguresIsSaidFirst() throws {
        var report = SampleReport.make()
        report.run.end = .targetLost
        report.generator.wasBottleneck = true
        let page = try report.html()
        let notes = try #require(page.firstMatch(of: /<ul class="notes">(?s:.*?)<\/ul>/)).0
        #expect(notes.contains("debug build") && notes.contains("load tool was the limit") && notes.contains("could not be reached"))
        #expect(notes.contains("dropped"))
    }

    @Test func aDrawingHasAGapWhereAValueIsMissing() {
        let line = Chart.Line(name: "a", values: [1, 2, nil, 3, 4], colour: 0)
        let chart = Chart(
            title: "t", caption: "c", x: [0, 1, 2, 3, 4], xScale: AxisScale(exactly: 0...4), xTitle: "s", xText: { "\($0)" }, lines: [line],
            yScale: AxisScale(linearTo: 4), yText: { "\($0)" })
        let svg = ChartDrawing(chart: chart, id: "g").svg()
        #expect(svg.components(separatedBy: "<path class=\"line c0\"").count == 3)
    }

    @Test func condensingKeepsTheLargestLatency() {
        let line = Chart.Line(name: "a", values: [1, 9, 2, nil, 3], colour: 0)
        var chart = Chart(
            title: "t", caption: "c", x: [1, 2, 3, 4, 5], xScale: AxisScale(exactly: 0...5), xTitle: "s", xText: { "\($0)" }, lines: [line],
            yScale: AxisScale(linearTo: 9), yText: { "\($0)" })
        #expect(chart.condensed(to: 3).lines[0].values == [9, 2, 3])
        #expect(chart.condensed(to: 3).x == [2, 4, 5])
        chart.condensing = .mean
        #expect(chart.condensed(to: 3).lines[0].values == [5, 2, 3])
    }

    @Test func stackedBarsStandOnEachOther() throws {
        let lines = [("a", 1.0), ("b", 3.0)].map { Chart.Line(name: $0.0, values: [$0.1], style: .stacked, colour: 0) }
        #expect(Chart.tallest(lines) == 4)
        let chart = Chart(
            title: "t", caption: "c", x: [1], xScale: AxisScale(exactly: 0...2), xTitle: "s", xText: { "\($0)" }, lines: lines,
            yScale: AxisScale(linearTo: 4), yText: { "\($0)" })
        let bars = ChartDrawing(chart: chart, id: "g").svg().matches(of: /class="bar c0"[^>]* y="([0-9.]+)"[^>]* height="([0-9.]+)"/)
        try #require(bars.count == 2)
        let (floor, top) = (try #require(Double(bars[0].1)), try #require(Double(bars[1].1)))
        let height = try #require(Double(bars[1].2))
        #expect(abs(top + height - floor) < 0.2)
    }
}
