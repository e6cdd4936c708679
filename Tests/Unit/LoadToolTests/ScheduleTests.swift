import Testing

@testable import LoadTool

@Suite struct ScheduleTests {
    private static func dues(_ stages: [LoadPlan.Stage], share: Double = 1, phase: Double = 0.5, isPoisson: Bool = false, seed: UInt64 = 1)
        -> [Nanoseconds]
    {
        var schedule = ArrivalSchedule(stages, share: share, phase: phase, isPoisson: isPoisson, seed: seed)
        var dues: [Nanoseconds] = []
        while let next = schedule.next {
            dues.append(next)
            schedule.advance()
        }
        return dues
    }

    @Test func constantArrivalsAreEvenlySpread() {
        let dues = Self.dues([.init(length: Bench.second, level: 1000)])
        #expect(dues.count == 1000)
        #expect(zip(dues, dues.dropFirst()).allSatisfy { abs($1 - $0 - Bench.millisecond) <= 2 })
    }

    @Test func workersShareTheArrivalsWithoutMeeting() {
        let all = (0..<4).flatMap { Self.dues([.init(length: Bench.second, level: 1000)], share: 0.25, phase: (Double($0) + 0.5) / 4) }.sorted()
        #expect(all.count == 1000)
        #expect(zip(all, all.dropFirst()).allSatisfy { abs($1 - $0 - Bench.millisecond) <= 2 })
    }

    @Test func poissonArrivalsHaveTheRateAndTheSpread() {
        let dues = Self.dues([.init(length: 100 * Bench.second, level: 1000)], isPoisson: true)
        #expect(abs(dues.count - 100_000) < 1500)
        let gaps = zip(dues, dues.dropFirst()).map { Double($1 - $0) }
        let mean = gaps.reduce(0, +) / Double(gaps.count)
        let variance = gaps.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / Double(gaps.count)
        // In an exponential distribution the standard deviation is the mean.
        #expect(abs(variance.squareRoot() / mean - 1) < 0.03)
    }

    @Test func theSeedDecidesPoissonArrivals() {
        let second = [LoadPlan.Stage(length: Bench.second, level: 1000)]
        #expect(Self.dues(second, isPoisson: true, seed: 7) == Self.dues(second, isPoisson: true, seed: 7))
        #expect(Self.dues(second, isPoisson: true, seed: 7) != Self.dues(second, isPoisson: true, seed: 8))
    }

    @Test func aSlopeHasAsManyArrivalsAsItsMeanRate() {
        let up = Self.dues([.init(length: 10 * Bench.second, from: 100, to: 300)])
        #expect(up.count == 2000)
        // In the first half 5·(100 + 200)/2 = 750.
        #expect(abs(up.count { $0 < 5 * Bench.second } - 750) <= 1)
        let down = Self.dues([.init(length: 10 * Bench.second, from: 300, to: 100)])
        #expect(abs(down.count { $0 < 5 * Bench.second } - 1250) <= 1)
    }

    @Test func stagesFollowOneAnother() {
        let dues = Self.dues([.init(length: Bench.second, level: 10), .init(length: Bench.second, level: 1000)])
        #expect(dues.count { $0 < Bench.second } == 10)
        #expect(abs(dues.count - 1010) <= 1)
        #expect(dues == dues.sorted())
    }

    @Test func aPlanKnowsStageAndLevelOfAMoment() {
        let plan = LoadPlan.ramp(from: 10, to: 30, steps: 3, stepLength: Bench.second, warmUp: Bench.second)
        #expect(plan.stage(at: -1) == nil)
        #expect(plan.stage(at: 0) == 0)
        #expect(plan.stage(at: 2 * Bench.second) == 2)
        #expect(plan.stage(at: 3 * Bench.second) == nil)
        #expect(plan.level(at: 0) == 10)
        #expect(plan.level(at: 2 * Bench.second) == 20)
        #expect(plan.stages.map(\.from) == [10, 20, 30])
    }
}
