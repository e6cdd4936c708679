import Testing

@testable import LoadTool

@Suite struct IntervalTests {
    @Test("the sample of a look that comes a moment after the warm-up is of the warm-up")
    func warmUpEnds() {
        let late = Interval().sample(second: 0.000_07, elapsed: Bench.second + 70_000)
        #expect(late.isWarmUp && late.second == 0)
        let veryLate = Interval().sample(second: 1.7, elapsed: 1_700_000_000)
        #expect(!veryLate.isWarmUp && veryLate.second == 1.7)
        #expect(Interval().sample(second: -1, elapsed: Bench.second).second == -1)
    }
}

@Suite struct WorkerTests {
    private static let tenSeconds = LoadPlan(stages: [.init(length: 10 * Bench.second, level: 1000)])
    private static let stall = 4 * Bench.second..<5 * Bench.second

    /// A target stands still for a second. A tool that sends calls only after answers would note one slow call, and not the 999 that were due.
    @Test func aStallShowsInTheResponseTimesOfAllCallsThatWereDue() {
        let bench = Bench(Self.tenSeconds)
        bench.run(until: 10 * Bench.second + 5 * Bench.millisecond) { Self.stall.contains($0) ? nil : Bench.millisecond }
        let tally = bench.tally
        #expect(tally.due == 10_000)
        #expect(tally.succeeded == 10_000)
        #expect(tally.dropped == 0)
        // A tenth of the calls were due within the stall and waited from 0 to 1 second.
        #expect(tally.responseTime.value(at: 50) < 3 * Bench.millisecond)
        #expect((450 * Bench.millisecond..<550 * Bench.millisecond).contains(tally.responseTime.value(at: 95)))
        #expect(tally.responseTime.value(at: 99) > 850 * Bench.millisecond)
        #expect(tally.responseTime.longest > 990 * Bench.millisecond)
    }

    /// The same with one connection that takes one call: the calls wait within the tool, and that time is theirs too.
    @Test func waitingForAConnectionIsResponseTimeAndNotServiceTime() {
        let bench = Bench(Self.tenSeconds)
        bench.transport.capacity = 1
        let stall = 4 * Bench.second..<4 * Bench.second + 200 * Bench.millisecond
        bench.run(until: 10 * Bench.second + 200 * Bench.millisecond, step: Bench.millisecond / 4) { stall.contains($0) ? nil : 0 }
        let tally = bench.tally
        #expect(tally.succeeded == 10_000)
        #expect(tally.responseTime.longest > 190 * Bench.millisecond)
        #expect(tally.responseTime.value(at: 99) > 50 * Bench.millisecond)
        // Only the one call that was sent into the stall took long to serve.
        #expect(tally.serviceTime.value(at: 99.9) < 2 * Bench.millisecond)
        #expect(tally.serviceTime.longest > 190 * Bench.millisecond)
    }

    @Test func aClosedLoopHidesTheStall() {
        let bench = Bench(LoadPlan(stages: [.init(length: 10 * Bench.second, level: 1)]), loop: .closed)
        bench.run(until: 10 * Bench.second) { Self.stall.contains($0) ? nil : Bench.millisecond }
        #expect(bench.tally.responseTime.value(at: 99) < 5 * Bench.millisecond)
        #expect(bench.tally.responseTime.longest > 990 * Bench.millisecond)
    }

    @Test func dropsWhatIsDueWhileTooMuchIsUnderWayAndKeepsItsSchedule() {
        let bench = Bench(Self.tenSeconds, maxOutstanding: 100)
        bench.run(until: 10 * Bench.second + 5 * Bench.millisecond) { Self.stall.contains($0) ? nil : Bench.millisecond }
        let tally = bench.tally
        #expect(tally.due == 10_000)
        #expect((890...910).contains(tally.dropped))
        #expect(tally.succeeded + tally.dropped == 10_000)
    }

    @Test func notesItsOwnLateness() {
        let bench = Bench(Self.tenSeconds)
        bench.run(until: Bench.second) { _ in Bench.millisecond }
        bench.transport.answer()
        // The tool is not called for half a second.
        bench.clock.now += Bench.second / 2
        bench.run(until: 10 * Bench.second + 5 * Bench.millisecond) { _ in Bench.millisecond }
        let tally = bench.tally
        #expect(tally.due == 10_000)
        #expect(tally.lag.longest > 490 * Bench.millisecond)
        #expect(tally.lag.value(at: 50) <= Bench.millisecond)
        #expect(tally.responseTime.longest > 490 * Bench.millisecond)
        #expect(tally.serviceTime.longest < 5 * Bench.millisecond)
    }

    @Test func doesNotCountTheWarmUp() {
        var plan = Self.tenSeconds
        plan.warmUp = 2 * Bench.second
        let bench = Bench(plan)
        bench.run(until: 12 * Bench.second + 5 * Bench.millisecond) { $0 < Bench.second ? 500 * Bench.millisecond : Bench.millisecond }
        #expect(bench.transport.sentCount == 12_000)
        #expect(bench.tally.succeeded == 10_000)
        #expect(bench.tally.responseTime.longest < 5 * Bench.millisecond)
    }

    @Test func stepsOfARampAreCountedApart() {
        let plan = LoadPlan.ramp(from: 100, to: 300, steps: 3, stepLength: Bench.second, warmUp: 0)
        let bench = Bench(plan)
        bench.run(until: 3 * Bench.second + 5 * Bench.millisecond) { _ in Bench.millisecond }
        #expect(bench.worker.tallies.map(\.due) == [100, 200, 300])
        #expect(bench.worker.tallies.map(\.succeeded) == [100, 200, 300])
    }

    @Test func laterCallsAreDueWhenThePauseBeforeThemEnds() {
        let bench = Bench(
            LoadPlan(stages: [.init(length: Bench.second, level: 10)]), workload: FakeWorkload(["first", "second"], pause: 300 * Bench.millisecond))
        bench.run(until: 3 * Bench.second) { _ in Bench.millisecond }
        #expect(bench.tally.succeeded == 20)
        #expect(bench.tally.iterations == 10)
        let sample = bench.worker.takeInterval().sample(second: 3, elapsed: 3 * Bench.second)
        #expect(sample.iterations == 10 && sample.succeeded == 20, "visits and calls are two things")
        #expect(bench.tally.responseTime.longest < 4 * Bench.millisecond)
        #expect(bench.tally.iterationTime.value(at: 50) >= 300 * Bench.millisecond)
        #expect(bench.tally.iterationTime.longest < 320 * Bench.millisecond)
    }

    @Test func beginsAsManyIterationsAsTheLimitSays() {
        let bench = Bench(Self.tenSeconds, limit: 123)
        bench.run(until: 2 * Bench.second) { _ in 0 }
        #expect(bench.tally.due == 123)
        #expect(bench.worker.isFinished)
        let closed = Bench(LoadPlan(stages: [.init(length: 10 * Bench.second, level: 10)]), loop: .closed, limit: 123)
        closed.run(until: 2 * Bench.second) { _ in 0 }
        #expect(closed.tally.succeeded == 123)
        #expect(closed.worker.isFinished)
    }

    @Test func aClosedLoopKeepsAsManyCallsUnderWayAsItHasUsers() {
        let bench = Bench(LoadPlan(stages: [.init(length: Bench.second, level: 7)]), loop: .closed)
        bench.run(until: Bench.second) { _ in
            #expect(bench.transport.inFlight.count == 7)
            return Bench.millisecond * 10
        }
        bench.worker.stop()
        bench.transport.answer()
        #expect(bench.worker.isFinished)
        #expect(bench.tally.succeeded > 600)
    }

    @Test func afterTheStopNothingBegins() {
        let bench = Bench(Self.tenSeconds)
        bench.run(until: Bench.second) { _ in nil }
        bench.worker.stop()
        bench.clock.now += Bench.second
        _ = bench.worker.wake()
        #expect(bench.transport.sentCount == 1000)
        #expect(!bench.worker.isFinished)
        bench.transport.answer()
        #expect(bench.worker.isFinished)
    }
}
