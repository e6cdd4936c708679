import Foundation
import Testing

@testable import LoadReporting

@Suite struct ReportComparisonTests {
    private func report(slowness: Double = 1, random: UInt64 = 7, seconds: Int = 20, failing: Double = 0.002) -> LoadReport {
        var full = FullReport()
        (full.slowness, full.seconds, full.failing) = (slowness, seconds, failing)
        full.random.state = random
        return full.report()
    }

    @Test func aRunBesideItselfDiffersInNothing() {
        let report = report()
        let comparison = ReportComparison(base: report, new: report)
        #expect(comparison.figures.count == 10)
        #expect(comparison.figures.allSatisfy { $0.verdict == .same && $0.ratio == 1 })
        #expect(comparison.warnings.isEmpty)
        #expect(comparison.hasPassed)
    }

    @Test func twoRunsOfTheSameAreWithinTheNoise() throws {
        let comparison = ReportComparison(base: report(random: 7), new: report(random: 99))
        for kind in [FigureKind.percentile(50), .percentile(99), .percentile(90)] {
            let figure = try #require(comparison.figure(kind, operation: nil))
            #expect([.same, .noise, .fewSeconds].contains(figure.verdict), "\(kind.name): \(figure.ratioText), \(figure.noiseText)")
        }
    }

    @Test func aSlowerRunIsWorseAndAFasterOneBetter() throws {
        let slower = ReportComparison(base: report(), new: report(slowness: 1.5, random: 99))
        #expect(try #require(slower.figure(.percentile(50), operation: nil)).verdict == .worse)
        let faster = ReportComparison(base: report(slowness: 1.5), new: report(random: 99))
        #expect(try #require(faster.figure(.percentile(50), operation: nil)).verdict == .better)
    }

    @Test func aStallOfSomeSecondsIsNotTheTypicalSecond() throws {
        let base = report(seconds: 20)
        var new = report(random: 8, seconds: 20)
        var slow = LatencyHistogram(new.totals.responseTime.histogram)
        for _ in 0..<4000 { slow.record(900_000_000) }
        new.totals.responseTime = slow.summary
        new.series[12].p99Nanoseconds = 900_000_000
        #expect(try #require(ReportComparison(base: base, new: new).figure(.percentile(99), operation: nil)).verdict == .fewSeconds)
    }

    @Test func runsTooShortForANoiseSaySo() throws {
        let comparison = ReportComparison(base: report(seconds: 3), new: report(slowness: 2, seconds: 3))
        #expect(try #require(comparison.figure(.percentile(99), operation: nil)).verdict == .unknown)
        #expect(comparison.warnings.contains { $0.contains("too few to tell a difference from noise") })
    }

    @Test func whatWasNotTheSameIsSaid() {
        let base = report()
        var new = base
        new.settings.connections = 128
        new.settings.workload = "playback"
        new.machine.processor = "another"
        new.machine.build = "debug"
        new.serviceBuild = .debug
        new.run.end = .interrupted
        let warnings = ReportComparison(base: base, new: new).warnings
        for word in [
            "different connections: 64, then 128", "different workloads", "different processors", "debug build", "ended early",
            "different builds of the service: unknown, then debug",
        ] {
            #expect(warnings.contains { $0.contains(word) }, "\(word)")
        }
    }

    @Test func theBootstrapIntervalHoldsTheRatioOfTheMedians() throws {
        let base = (0..<60).map { 100 + Double($0 % 7) }
        let comparison = try #require(SecondsComparison(base: base, new: base.map { $0 * 1.2 }))
        #expect(abs(comparison.ratio - 1.2) < 0.001)
        #expect(comparison.low <= 1.2 && comparison.high >= 1.2 && comparison.low > 1)
        #expect(comparison == SecondsComparison(base: base, new: base.map { $0 * 1.2 }), "the same each time")
        #expect(SecondsComparison(base: [1, 2], new: base) == nil)
        #expect(SecondsComparison(base: base.map { _ in 0 }, new: base) == nil)
    }

    @Test func blocksAreMeansOfNeighboursAndLoseNone() {
        let blocks = SecondsComparison.blocks((0..<45).map(Double.init))
        #expect(blocks.count == 20)
        #expect(blocks == blocks.sorted())
        #expect(SecondsComparison.blocks([1, 2, 3]) == [1, 2, 3])
        #expect(SecondsComparison.median([3, 1, 2]) == 2 && SecondsComparison.median([4, 1, 2, 3]) == 2.5)
    }

    @Test(arguments: [
        ("p99<=1.1x", true), ("p99 < 0.9x", false), ("rate>=0.95x", true), ("errors<=1x", true), ("max>1.5x", false), ("session:p50<=1x", true),
    ])
    func assertionsAreJudged(_ text: String, _ holds: Bool) throws {
        let report = report()
        var comparison = ReportComparison(base: report, new: report)
        comparison.judge([try ComparedAssertion(text)])
        #expect(comparison.hasPassed == holds)
    }

    @Test func noErrorsBesideNoErrorsHold() throws {
        let report = report(failing: 0)
        var comparison = ReportComparison(base: report, new: report)
        comparison.judge([try ComparedAssertion("errors<=1x")])
        #expect(comparison.hasPassed)
    }

    @Test func errorsBesideNoneDoNotHold() throws {
        var comparison = ReportComparison(base: report(failing: 0), new: report(failing: 0.01))
        comparison.judge([try ComparedAssertion("errors<=2x")])
        #expect(!comparison.hasPassed)
        #expect(comparison.assertions[0].measured == "from 0")
    }

    @Test func aFigureThatIsNotThereDoesNotHold() throws {
        var new = report()
        new.observation = nil
        var comparison = ReportComparison(base: report(), new: new)
        comparison.judge([try ComparedAssertion("cpu<=9x"), try ComparedAssertion("nobody:p99<=9x")])
        #expect(comparison.assertions.allSatisfy { !$0.hasHeld && $0.measured.hasPrefix("not in both reports") })
    }

    @Test func noiseIsToleratedOnlyWhenAskedFor() throws {
        let (base, new) = (report(random: 7), report(random: 1234))
        let figure = try #require(ReportComparison(base: base, new: new).figure(.errors, operation: nil))
        try #require(figure.verdict == .noise, "\(figure.ratioText) \(figure.noiseText)")
        let ratio = try #require(figure.ratio)
        let assertion = try ComparedAssertion(ratio > 1 ? "errors<=1x" : "errors>=1x")
        var strict = ReportComparison(base: base, new: new)
        strict.judge([assertion])
        #expect(!strict.hasPassed && strict.assertions[0].measured.contains("within the noise"))
        var tolerant = ReportComparison(base: base, new: new)
        tolerant.judge([assertion], toleratesNoise: true)
        #expect(tolerant.hasPassed)
    }

    @Test(arguments: [
        "", "p99", "p99=1x", "p99<=5ms", "p101<1x", "p<1x", "pxx<1x", "what<1x", "p99<=x", "p99<=-1x", "p99<=+1x", "p99<=nanx", "p99<=infx",
    ])
    func whatIsNoAssertionIsRefused(_ text: String) { #expect(throws: ComparedAssertion.Rejection.self) { try ComparedAssertion(text) } }

    @Test func theTextFitsATerminal() throws {
        var comparison = ReportComparison(base: report(), new: report(slowness: 1.2, random: 5), names: ("a.json", "b.json"))
        comparison.judge([try ComparedAssertion("p50<=1.1x")])
        let text = comparison.text()
        #expect(text.contains("FAILED  p50<=1.1x"))
        #expect(text.contains("by step"))
    }

    @Test func programsReadTheFigures() throws {
        var comparison = ReportComparison(base: report(), new: report(slowness: 1.5, random: 99), names: ("a.json", "b.json"))
        comparison.judge([try ComparedAssertion("p50<=1.1x")])
        let json = try #require(try JSONSerialization.jsonObject(with: Data(comparison.json().utf8)) as? [String: Any])
        let figures = try #require(json["figures"] as? [[String: Any]])
        let median = try #require(figures.first { $0["name"] as? String == "p50" })
        #expect(json["hasPassed"] as? Bool == false && json["base"] as? String == "a.json" && figures.count == 10)
        #expect(median["verdict"] as? String == "worse" && (median["ratio"] as? Double ?? 0) > 1.3 && (median["noise"] as? [Double])?.count == 2)
        #expect(((json["assertions"] as? [[String: Any]])?.first?["text"] as? String) == "p50<=1.1x")
    }

    @Test func thePageEscapesNamesAndShowsBoth() throws {
        var comparison = ReportComparison(base: report(seconds: 10), new: report(slowness: 1.2, seconds: 10), names: ("<b>a</b>", "x\"y"))
        comparison.judge([try ComparedAssertion("p50<=1.1x")])
        let page = try comparison.html()
        #expect(!page.contains("<b>a</b>") && page.contains("&lt;b&gt;a&lt;/b&gt;"))
        #expect(page.contains("<span class=\"verdict failed\">failed</span>"))
        #expect(page.components(separatedBy: "<svg class=\"chart\"").count - 1 == 4)
    }
}
