import LoadReporting
import Testing

@testable import LoadTool

@Suite struct KneeTests {
    private static func step(
        _ level: Double, served: Double = 1, p99: Nanoseconds = 2 * Bench.millisecond, failed: Double = 0, dropped: Double = 0,
        lag: Nanoseconds = 1000
    ) -> StepResult {
        var tally = Tally()
        tally.due = Int(level)
        tally.dropped = Int(level * dropped)
        let ended = Int(level * served)
        tally.iterations = ended
        tally.failed = Int(Double(ended) * failed)
        tally.succeeded = ended - tally.failed
        for _ in 0..<ended { tally.responseTime.record(p99) }
        return StepResult(level: level, totals: tally.totals(elapsed: Bench.second), lagP99Nanoseconds: lag)
    }

    @Test func findsWhereTheThroughputStays() throws {
        let (steps, knee) = KneeRule().judge(
            [Self.step(100), Self.step(200), Self.step(300, served: 0.7), Self.step(400, served: 0.5)], isClosed: false)
        #expect(steps.map(\.failure) == [nil, nil, .throughput, .throughput])
        #expect(knee?.level == 200)
        #expect(knee?.rate == 200)
        #expect(knee?.failedLevel == 300)
        #expect(knee?.criterion == .throughput)
        #expect(try #require(knee).explanation.hasPrefix("The knee lies between 200 and 300 iterations/s: 200 gave 200 good answers/s, at 300 only "))
    }

    @Test func findsWhereTheLatencyRises() {
        let steps = [Self.step(100), Self.step(200, p99: 19 * Bench.millisecond), Self.step(300, p99: 21 * Bench.millisecond)]
        let judged = KneeRule().judge(steps, isClosed: false)
        #expect(judged.steps.map(\.failure) == [nil, nil, .latency])
        #expect(judged.knee?.level == 200)
        var strict = KneeRule()
        strict.longestP99Nanoseconds = 5 * Bench.millisecond
        #expect(strict.judge(steps, isClosed: false).knee?.level == 100)
    }

    @Test func findsWhereCallsFail() {
        let knee = KneeRule().judge([Self.step(100), Self.step(200, failed: 0.02)], isClosed: false).knee
        #expect(knee?.level == 100)
        #expect(knee?.criterion == .errors)
    }

    @Test func droppedIterationsAreMissedThroughput() {
        #expect(KneeRule().judge([Self.step(100), Self.step(200, served: 0.8, dropped: 0.2)], isClosed: false).knee?.criterion == .throughput)
    }

    @Test func saysWhenTheToolItselfWasTheLimit() throws {
        let knee = KneeRule().judge([Self.step(100), Self.step(200, p99: 30 * Bench.millisecond, lag: 25 * Bench.millisecond)], isClosed: false).knee
        #expect(knee?.criterion == .generator)
        #expect(try #require(knee).explanation.contains("the tool itself"))
        #expect(try #require(knee).explanation.hasPrefix("The knee lies above 100 iterations/s: 100 gave "))
    }

    @Test func saysWhenThereIsNoKnee() throws {
        let knee = try #require(KneeRule().judge([Self.step(100), Self.step(200)], isClosed: false).knee)
        #expect(knee.level == 200)
        #expect(knee.criterion == nil)
        #expect(knee.explanation.hasPrefix("No knee"))
    }

    @Test func aBadFirstStepHasNoGoodLevel() throws {
        let knee = try #require(KneeRule().judge([Self.step(100, failed: 1)], isClosed: false).knee)
        #expect(knee.level == nil)
        #expect(knee.failedLevel == 100)
        #expect(knee.explanation.hasPrefix("Already at 100"))
    }

    @Test func ofAClosedLoopNothingIsDue() {
        #expect(KneeRule().judge([Self.step(100, served: 0.1)], isClosed: true).steps[0].failure == nil)
    }
}
