import ContractRuntime
import Testing

@testable import LoadTool

@Suite struct FailureTests {
    private static let oneSecond = LoadPlan(stages: [.init(length: Bench.second, level: 100)])

    @Test func areCountedByCodeAndOperation() {
        let bench = Bench(Self.oneSecond, workload: FakeWorkload(["first", "second"]))
        bench.run(until: Bench.second + 5 * Bench.millisecond) { now in
            bench.transport.answer(
                now % (200 * Bench.millisecond) == 5 * Bench.millisecond ? Answer(failure: "unavailable", message: "Not now.") : .none)
            return nil
        }
        bench.transport.answer()
        let (first, second) = (bench.worker.operations[0], bench.worker.operations[1])
        #expect(first.sent == 100 && second.sent == 100)
        #expect(first.failed == 5)
        #expect(second.failed == 0)
        #expect(first.errors.byCode["unavailable", default: 0] == first.failed)
        #expect(second.errors.byCode["unavailable", default: 0] == second.failed)
        #expect(bench.tally.failed + bench.tally.succeeded == 200)
        #expect((first.errors.counts + second.errors.counts).allSatisfy { $0.example == "Not now." })
    }

    @Test func aToleratedCodeIsNone() {
        let method = MethodIdentity(service: "s", name: "poll", idempotency: .noSideEffects)
        let mix = MethodMix([PreparedMethod(method, payloads: [[]], tolerates: ["missing"])], worker: 0, workers: 1)
        let bench = Bench(LoadPlan(stages: [.init(length: Bench.second, level: 10)]), workload: mix)
        bench.clock.now = 400 * Bench.millisecond
        _ = bench.worker.wake()
        bench.transport.answer(Answer(failure: "missing"))
        bench.clock.now = Bench.second
        _ = bench.worker.wake()
        bench.transport.answer(Answer(failure: "other"))
        #expect(bench.tally.succeeded == 4)
        #expect(bench.tally.failed == 6)
    }

    @Test func aWorkloadCanRefuseAGoodAnswer() {
        let workload = FakeWorkload()
        workload.verdict = { _ in .failed(code: "unexpected_answer", message: "It is empty.") }
        let bench = Bench(Self.oneSecond, workload: workload)
        bench.run(until: 2 * Bench.second) { _ in 0 }
        #expect(bench.tally.failed == 100)
        #expect(bench.tally.iterations == 0)
        #expect(bench.worker.operations[0].errors.byCode == ["unexpected_answer": 100])
    }

    @Test func callsThatCannotBeSentFailWhenNoConnectionIsOpen() {
        let bench = Bench(Self.oneSecond)
        bench.transport.openConnections = 0
        bench.run(until: Bench.second + 5 * Bench.millisecond) { _ in nil }
        #expect(bench.tally.failed == 100)
        #expect(bench.worker.operations[0].errors.byCode == ["connection_lost": 100])
        #expect(bench.transport.sentCount == 0)
    }

    @Test func usersDoNotSpinWhileNoConnectionIsOpen() {
        let bench = Bench(LoadPlan(stages: [.init(length: 10 * Bench.second, level: 5)]), loop: .closed)
        bench.transport.openConnections = 0
        bench.run(until: Bench.second) { _ in nil }
        #expect((40...60).contains(bench.tally.failed))
        bench.transport.openConnections = 1
        bench.run(until: 2 * Bench.second) { _ in Bench.millisecond }
        #expect(bench.tally.succeeded > 1000)
    }

    @Test func callsThatWaitTooLongForAConnectionTimeOut() {
        let bench = Bench(Self.oneSecond, timeout: 200 * Bench.millisecond)
        bench.transport.capacity = 1
        bench.run(until: 2 * Bench.second) { _ in nil }
        #expect(bench.worker.operations[0].errors.byCode == ["timeout": 99])
        bench.worker.giveUp()
        #expect(bench.tally.unfinished == 1)
    }
}
