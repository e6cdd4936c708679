@testable import LoadTool

/// A worker with a fake target, on a clock that the test moves.
final class Bench {
    static let millisecond: Nanoseconds = 1_000_000
    static let second: Nanoseconds = 1_000_000_000

    let clock = TestClock()
    let transport = FakeTransport()
    let worker: Worker

    init(
        _ plan: LoadPlan, loop: WorkerSettings.Loop = .open(poisson: false), workload: any Workload = FakeWorkload(), maxOutstanding: Int = 100_000,
        timeout: Nanoseconds = 10 * second, limit: Int? = nil
    ) {
        let clock = clock
        worker = Worker(
            WorkerSettings(plan: plan, loop: loop, maxOutstanding: maxOutstanding, timeout: timeout, iterationLimit: limit),
            workload: workload, transport: transport, clock: { clock.now })
        worker.start(at: 0)
    }

    /// Moves the clock in steps, and answers calls that are as old as the target takes.
    /// - Parameter answersWithin: The answer time of the target at a moment; `nil`: it stands still.
    func run(until end: Nanoseconds, step: Nanoseconds = millisecond, answersWithin: (Nanoseconds) -> Nanoseconds?) {
        while clock.now < end {
            clock.now += step
            _ = worker.wake()
            if let age = answersWithin(clock.now) { transport.answer(sentBefore: clock.now - age + 1) }
        }
    }

    /// All of what was measured.
    var tally: Tally { worker.tallies.reduce(into: Tally()) { $0.add($1) } }
}
