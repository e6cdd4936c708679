import Testing

@testable import LoadReporting

/// A ramp's chart, tiles, tables and text say the same.
@Suite struct RampReportTests {
    private func ramp(_ failures: [KneeCriterion?], knee: Knee, lag: Int64 = 0) -> LoadReport {
        var report = SampleReport.make()
        report.steps = failures.enumerated().map { index, failure in
            var totals = report.totals
            totals.succeeded = 1000 * (index + 1)
            return StepResult(level: Double(100 * (index + 1)), totals: totals, lagP99Nanoseconds: lag, failure: failure)
        }
        report.knee = knee
        return report
    }

    private func tile(_ report: LoadReport, _ name: String) -> PageContent.Tile? { report.tiles.first { $0.name == name } }

    @Test("a knee that was reached is marked and told")
    func reached() throws {
        let report = ramp(
            [nil, nil, .latency],
            knee: Knee(level: 200, rate: 200, failedLevel: 300, criterion: .latency, explanation: "The knee lies between 200 and 300"))
        #expect(report.kneeMark.map(\.value) == [200])
        #expect(tile(report, "Knee")?.value == "200 to 300" && tile(report, "Knee")?.more == "between two steps: fails at 300")
        #expect(report.text().contains("The knee lies between 200 and 300"))
    }

    @Test("a knee that was not reached is neither marked nor told as one")
    func notReached() {
        let none = ramp([nil, nil], knee: Knee(level: 200, rate: 200, failedLevel: nil, criterion: nil, explanation: "No knee"))
        #expect(none.kneeMark.isEmpty && tile(none, "Knee")?.value == "not reached")
        let late = ramp(
            [nil, .generator], knee: Knee(level: 100, rate: 100, failedLevel: 200, criterion: .generator, explanation: "The tool was late"))
        #expect(late.kneeMark.isEmpty && tile(late, "Knee")?.value == "not reached" && tile(late, "Knee")?.more == "the tool was late at 200")
    }

    @Test("the headline is about one step: the last before the first bad one, or that one")
    func headline() {
        let knee = Knee(level: 200, rate: 200, failedLevel: 300, criterion: .errors, explanation: "")
        let report = ramp([nil, nil, .errors, nil], knee: knee)
        #expect(report.headline.succeeded == 2000 && report.headlineStep?.level == 200)
        #expect(tile(report, "Step")?.value == "200")
        #expect(report.text().contains("step            200 ") && report.text().contains("good answers    2,000"))
        #expect(ramp([.errors, nil], knee: knee).headlineStep?.level == 100)
        let plain = SampleReport.make()
        #expect(plain.headline == plain.totals && tile(plain, "Step") == nil && !plain.text().contains("the table below has all"))
    }

    @Test("a step with the tool late says so, served well or not")
    func lateTool() {
        let knee = Knee(level: 100, rate: 100, failedLevel: nil, criterion: nil, explanation: "")
        let report = ramp([nil, .generator], knee: knee, lag: 3_600_000_000_000)
        #expect(report.steps.allSatisfy { $0.hasLateTool })
        #expect(report.steps.map(LoadReport.verdict) == ["yes, though the tool was late", "unknown: the tool was late"])
        #expect(report.text().contains("ok, tool late"))
        #expect(ramp([nil], knee: knee).steps.map(LoadReport.verdict) == ["yes"])
    }
}
