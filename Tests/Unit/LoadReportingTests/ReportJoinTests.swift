import Foundation
import Testing

@testable import LoadReporting

@Suite struct ReportJoinTests {
    private func report(_ number: Int, slowness: Double = 1, seconds: Int = 12) -> LoadReport {
        var full = FullReport()
        (full.slowness, full.seconds) = (slowness, seconds)
        full.random.state = UInt64(number)
        var report = full.report()
        report.run.id = "run-\(number)"
        report.observation = number == 1 ? report.observation : nil
        report.run.startedAtMilliseconds += Int64(number) * 20
        return report
    }

    private func joined(_ reports: LoadReport...) throws -> LoadReport {
        try ReportJoin(reports.enumerated().map { ("\($0).json", $1) }).report()
    }

    /// A report whose calls took these times, all in one second.
    private func times(_ number: Int, _ values: [(milliseconds: Int64, calls: Int)]) -> LoadReport {
        var report = report(number, seconds: 4)
        var histogram = LatencyHistogram()
        for (milliseconds, calls) in values { histogram.record(milliseconds * 1_000_000, times: calls) }
        report.totals.responseTime = histogram.summary
        report.totals.succeeded = histogram.count
        report.totals.failed = 0
        report.series = report.series.filter { $0.second == 1 }
        report.series[0].responseTimes = CompactHistogram(histogram)
        (report.series[0].p50Nanoseconds, report.series[0].p99Nanoseconds) = (histogram.value(at: 50), histogram.value(at: 99))
        report.series[0].maxNanoseconds = histogram.longest
        return report
    }

    @Test("percentiles are those of all calls, not means of percentiles")
    func mergesHistograms() throws {
        // 9000 fast calls and 1000 slow ones: half of all are fast, the slowest twentieth is slow. The mean of the medians would be 50 ms.
        let whole = try joined(times(1, [(1, 9000)]), times(2, [(100, 1000)]))
        func value(_ percentile: Double) -> Int64 { whole.totals.responseTime.percentiles.first { $0.percentile == percentile }?.nanoseconds ?? 0 }
        #expect(abs(value(50) - 1_000_000) < 1000 && abs(value(90) - 1_000_000) < 1000 && abs(value(95) - 100_000_000) < 100_000)
        #expect(whole.totals.responseTime.count == 10_000 && abs(whole.totals.responseTime.meanNanoseconds - 10_900_000) < 10_000)
        #expect(abs(whole.totals.responseTime.standardDeviationNanoseconds - 29_700_000) < 50_000)
        let second = try #require(whole.series.first { !$0.isWarmUp })
        #expect(abs(second.p50Nanoseconds - 1_000_000) < 6000 && abs(second.p99Nanoseconds - 100_000_000) < 600_000)
    }

    @Test("calls dealt out to three generators give the report of all of them")
    func equalsTheWhole() throws {
        var (all, parts) = (LatencyHistogram(), [LatencyHistogram](repeating: LatencyHistogram(), count: 3))
        var random = FullReport.Numbers(state: 11)
        for call in 0..<30_000 {
            let time = Int64(200_000 + 900_000 * random.exponential())
            all.record(time)
            parts[call * 7 / 3 % 3].record(time)
        }
        let whole = Latencies.joined(parts.map(\.summary))
        #expect(whole.histogram == all.summary.histogram && whole.count == 30_000)
        // As far as the digits of a kept histogram tell.
        for (joined, one) in zip(whole.percentiles, all.summary.percentiles) {
            #expect(joined.percentile == one.percentile && abs(joined.nanoseconds - one.nanoseconds) <= one.nanoseconds / 1000)
        }
        #expect(
            whole.percentiles.count == all.summary.percentiles.count && whole.maxNanoseconds == all.longest && whole.minNanoseconds == all.shortest)
        #expect(abs(whole.meanNanoseconds - all.summary.meanNanoseconds) < 1)
        #expect(abs(whole.standardDeviationNanoseconds / all.summary.standardDeviationNanoseconds - 1) < 1e-6)
    }

    @Test func countsLoadsAndErrorsAddUp() throws {
        let (one, two) = (report(1), report(2, slowness: 3))
        let whole = try joined(one, two)
        #expect(
            whole.totals.succeeded == one.totals.succeeded + two.totals.succeeded && whole.totals.elapsedNanoseconds == one.totals.elapsedNanoseconds)
        #expect(abs(whole.totals.rate - one.totals.rate - two.totals.rate) < 1e-6)
        #expect(whole.settings.fromLevel == 4000 && whole.settings.connections == 128 && whole.settings.targets == ["127.0.0.1:7002"])
        #expect(whole.series.count == one.series.count)
        for (sample, parts) in zip(whole.series, zip(one.series, two.series)) {
            #expect(sample.succeeded == parts.0.succeeded + parts.1.succeeded && sample.elapsedNanoseconds == 1_000_000_000)
            #expect(
                sample.maxNanoseconds == max(parts.0.maxNanoseconds, parts.1.maxNanoseconds) && sample.inFlight == parts.0.inFlight + parts.1.inFlight
            )
        }
        let code = try #require(whole.errors.first { $0.code == "overloaded" })
        #expect(code.count == [one, two].reduce(0) { $0 + ($1.errors.first { $0.code == "overloaded" }?.count ?? 0) } && code.example != nil)
        #expect(whole.operations.map(\.name) == one.operations.map(\.name))
        #expect(whole.operations[0].responseTime.count == one.operations[0].responseTime.count + two.operations[0].responseTime.count)
        #expect(whole.generators?.map(\.name) == ["0.json", "1.json"] && whole.observation == one.observation && whole.assertions.isEmpty)
    }

    @Test("a fraction of a second at the end goes with the second before it")
    func restOfASecond() throws {
        var one = report(1)
        var rest = try #require(one.series.last)
        (rest.second, rest.elapsedNanoseconds) = (rest.second + 0.04, 40_000_000)
        one.series.append(rest)
        let whole = try joined(one, report(2))
        #expect(whole.series.count == one.series.count - 1)
        #expect(whole.series.last?.succeeded == rest.succeeded * 2 + (report(2).series.last?.succeeded ?? 0))
        #expect(whole.series.last?.elapsedNanoseconds == 1_040_000_000)
    }

    @Test("what does not belong together is refused, with what it is and what to do")
    func refuses() throws {
        let changes: [((inout LoadReport) -> Void, String)] = [
            ({ $0.settings.service = "config" }, "1.json have different services"), ({ $0.settings.workload = "playback" }, "different scenarios"),
            ({ $0.run.toolVersion = "0.2.0" }, "0.1.0 and 0.2.0: their contracts may differ"), ({ $0.settings.loop = .closed }, "different loops"),
            ({ $0.settings.arrivals = .constant }, "different arrivals"), ({ $0.settings.warmUpNanoseconds = 0 }, "different warm-ups"),
            ({ $0.settings.schedule?[0].fromLevel = 500 }, "2,000/s for 12.0 s and 500 to 2,000/s for 12.0 s: give all generators the same load"),
            ({ $0.settings.schedule?[0].lengthNanoseconds = 1 }, "different schedules"),
            ({ $0.settings.timeoutNanoseconds = 1 }, "different timeouts"),
            ({ $0.settings.callLimit = 5 }, "different limits of calls, none and 5"), ({ $0.settings.knee = KneeRule() }, "rules for the knee"),
            ({ $0.settings.isIsolated = true }, "--isolated"), ({ $0.run.startedAtMilliseconds += 10_000 }, "with --start-at"),
            ({ $0.run.id = "run-1" }, "the same run"), ({ $0.serviceBuild = .debug }, "different builds of the service, release and debug"),
            ({ $0.settings.schedule = nil }, "1.json is of an earlier version"), ({ $0.series[3].responseTimes = nil }, "make it again"),
        ]
        var one = report(1)
        one.serviceBuild = .release
        for (change, words) in changes {
            var two = report(2)
            change(&two)
            let error = #expect(throws: ReportJoin.Rejection.self) { _ = try ReportJoin([("0.json", one), ("1.json", two)]) }
            #expect(error?.description.contains(words) == true, "\(words): \(error?.description ?? "")")
        }
        #expect(throws: ReportJoin.Rejection.self) { _ = try ReportJoin([("0.json", one)]) }
        #expect(throws: ReportJoin.Rejection.self) { _ = try ReportJoin((0...ReportJoin.most).map { ("\($0)", one) }) }
    }

    @Test("a report as an earlier version wrote it is read, and refused here alone")
    func readsOlderReports() throws {
        let newer = try #require(try JSONSerialization.jsonObject(with: report(1).json()) as? [String: Any])
        var older = newer
        older["settings"] = (newer["settings"] as? [String: Any])?.filter { $0.key != "schedule" }
        older["series"] = (newer["series"] as? [[String: Any]])?.map { $0.filter { $0.key != "responseTimes" } }
        let report = try LoadReport(json: try JSONSerialization.data(withJSONObject: older))
        #expect(!report.text().isEmpty)
        #expect(throws: ReportJoin.Rejection.self) { _ = try ReportJoin([("a", report), ("b", self.report(2))]) }
    }

    @Test("a ramp is judged anew on what all generators saw, and only as far as all went")
    func joinsRamps() throws {
        func ramp(_ number: Int, _ milliseconds: [Int64]) -> LoadReport {
            var report = report(number)
            report.settings.knee = KneeRule()
            report.steps = milliseconds.enumerated().map { index, time in
                var histogram = LatencyHistogram()
                histogram.record(time * 1_000_000, times: 100)
                var totals = report.totals
                (totals.elapsedNanoseconds, totals.due, totals.dropped, totals.iterations) = (1_000_000_000, 100, 0, 100)
                (totals.succeeded, totals.failed, totals.responseTime) = (100, 0, histogram.summary)
                return StepResult(level: Double(100 * (index + 1)), totals: totals, lagP99Nanoseconds: 1000, lag: LatencyHistogram().encoded)
            }
            return report
        }
        // Each alone finds another knee: the slower half of the calls decides.
        let whole = try joined(ramp(1, [2, 2, 2, 2]), ramp(2, [2, 2, 90]))
        #expect(whole.steps.map(\.level) == [200, 400, 600] && whole.steps.map(\.failure) == [nil, nil, .latency])
        #expect(whole.knee?.level == 400 && whole.knee?.failedLevel == 600 && whole.steps[0].totals.succeeded == 200)
        #expect(whole.joining?.contains { $0.contains("--ramp-on") } == true && whole.headlineStep?.level == 400)
        var short = ramp(3, [2, 2, 2])
        short.steps[2].totals.elapsedNanoseconds = 400_000_000
        #expect(try joined(ramp(1, [2, 2, 2, 2]), short).steps.count == 2)
    }

    @Test("a generator that was the limit is named, and how far the starts lie apart is told")
    func tellsOfGenerators() throws {
        var two = report(2)
        two.generator.wasBottleneck = true
        two.generator.explanation = "A thread of the tool was busy."
        two.run.startedAtMilliseconds += 1500
        two.run.end = .interrupted
        two.machine.build = "debug"
        let whole = try joined(report(1), two)
        #expect(whole.generator.explanation == "1.json: A thread of the tool was busy." && whole.run.end == .interrupted && whole.isOfDebugBuild)
        #expect(whole.joining?.first?.contains("1.52 s") == true, "\(whole.joining ?? [])")
        #expect(whole.joining?.contains { $0.contains("1.json by an interruption") } == true)
        let text = whole.text()
        #expect(text.contains("2 generators") && text.contains("0.json") && text.contains("tool late"))
        #expect(text.split(separator: "\n").allSatisfy { $0.count <= 80 }, "\(text)")
        let page = try whole.html()
        #expect(page.contains("joined from 2 generators") && page.contains("<th scope=\"row\">1.json</th>") && page.contains("no: it was the limit"))
    }

    @Test("a joined report is a report: it comes back from JSON, is compared, and joined with a further one")
    func joinsAgain() throws {
        let pair = try joined(report(1), report(2))
        let again = try LoadReport(json: pair.json())
        #expect(again == pair)
        #expect(ReportComparison(base: pair, new: again).figures.allSatisfy { $0.ratio == 1 })
        var third = report(3)
        third.settings.schedule = pair.settings.schedule
        let whole = try joined(pair, third)
        #expect(whole.generators?.count == 3 && whole.totals.sent == pair.totals.sent + third.totals.sent)
        #expect(throws: ReportJoin.Rejection.self) { _ = try ReportJoin([("a", pair), ("b", self.report(1))]) }
    }

    @Test("figures that no run can have are refused when a report is read")
    func refusesAbsurdFigures() throws {
        let changes: [(inout LoadReport) -> Void] = [
            { $0.totals.succeeded = -1 }, { $0.totals.due = .max }, { $0.totals.responseTime.histogram.counts[0] = .max },
            { $0.totals.responseTime.histogram.counts.removeLast() }, { $0.series[0].sent = .max }, { $0.operations[0].failed = .min },
            { $0.errors[0].count = .max }, { $0.run.startedAtMilliseconds = .max }, { $0.settings.connections = .max },
            { $0.totals.elapsedNanoseconds = .max }, { $0.series[2].second = 1e300 }, { $0.generator.lag.histogram.counts = [.max, .max] },
        ]
        for (number, change) in changes.enumerated() {
            var report = report(1)
            change(&report)
            let json = try report.json()
            let error = #expect(throws: ReportRejection.self) { _ = try LoadReport(json: json) }
            #expect(error?.description.contains("no run can have") == true, "\(number)")
        }
    }
}
