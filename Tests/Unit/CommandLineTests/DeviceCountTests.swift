@testable import WorkshopCommands
import LoadTool
import Testing

/// How many devices a load of media tokens comes from.
@Suite struct DeviceCountTests {
    private static func plan(_ stages: [LoadPlan.Stage], warmUp: Double = 0, loop: WorkerSettings.Loop = .open(poisson: true), limit: Int? = nil)
        -> RunPlan
    {
        RunPlan(
            plan: LoadPlan(warmUp: Int64(warmUp * 1e9), stages: stages), loop: loop, workers: 1, connections: 64, maxOutstanding: 1000,
            timeout: 10_000_000_000, iterationLimit: limit, seed: 1)
    }

    private static func stage(_ level: Double, _ seconds: Double) -> LoadPlan.Stage { LoadPlan.Stage(length: Int64(seconds * 1e9), level: level) }

    @Test func aSmallLoadComesFromFifty() {
        #expect(DeviceCount.forMediaTokens(Self.plan([Self.stage(100, 2)], warmUp: 1)) == 50)
        #expect(DeviceCount.forMediaTokens(Self.plan([Self.stage(10_000, 60)], limit: 100)) == 50)
    }

    @Test func eachPersonHasLessThanATokenASecond() {
        // 600 000 calls: 1 a second each, with room for chance.
        #expect(DeviceCount.forMediaTokens(Self.plan([Self.stage(1000, 600)])) == 1600)
    }

    @Test func aShortRunNeedsFewerAsAPersonMayHaveManyAtFirst() {
        // 30 000 calls, 120 for each, with room for chance.
        #expect(DeviceCount.forMediaTokens(Self.plan([Self.stage(1000, 25)], warmUp: 5)) == 400)
    }

    @Test func aRampCountsByItsHighestStep() {
        let stages = [Self.stage(500, 300), LoadPlan.Stage(length: 300_000_000_000, from: 500, to: 2000)]
        #expect(DeviceCount.forMediaTokens(Self.plan(stages)) == 3200)
    }

    @Test func aClosedLoopCountsByWhatItMayReach() {
        #expect(DeviceCount.forMediaTokens(Self.plan([Self.stage(64, 12)], loop: .closed)) == 800)
    }

    @Test func thereIsALimit() {
        #expect(DeviceCount.forMediaTokens(Self.plan([Self.stage(100_000, 600)])) == 20_000)
    }
}
