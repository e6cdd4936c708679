public import LoadReporting
public import NIOCore
internal import Foundation
internal import Synchronization

/// One load run: starts the workers, looks at them once a second, ends them, and puts their results together.
public final class LoadRun: Sendable {
    /// The progress that is shown while it runs.
    public struct Progress: Sendable {
        public var sample: SecondSample
        /// The response times of the calls that ended in it.
        public var responseTime: LatencyHistogram
        /// The time in the measured part; negative within the warm-up.
        public var elapsed: Nanoseconds
        public var planned: Nanoseconds
        /// The level of the load at this moment: iterations per second, or users.
        public var level: Double
        /// The step of a ramp at this moment, from 1 on, and their number; `nil` in the warm-up, and without a ramp.
        public var step: Int?
        public var steps: Int
        public var succeeded: Int
        public var failed: Int
        public var dropped: Int
    }

    private struct Counts {
        var succeeded = 0
        var failed = 0
        var dropped = 0
        var unconnectedSince: Nanoseconds?
    }

    private let plan: RunPlan
    private let workers: [LoopWorker]
    private let interruption = Mutex(false)
    private let clock = ContinuousClock()

    /// - Parameters:
    ///   - eventLoops: As many as `plan.workers`.
    public init(_ plan: RunPlan, eventLoops: [any EventLoop]) {
        precondition(eventLoops.count == plan.workers, "Each worker has an event loop.")
        self.plan = plan
        workers = eventLoops.map(LoopWorker.init)
    }

    /// Ends the run early; what was measured until then is the result.
    public func interrupt() { interruption.withLock { $0 = true } }

    /// - Parameters:
    ///   - make: Makes the workload and the connected transport of a worker, on its event loop.
    ///   - progress: Called about once a second.
    public func measure(
        _ make: @escaping @Sendable (_ worker: Int, _ eventLoop: any EventLoop) -> (any Workload, any CallTransport),
        started: @Sendable (ContinuousClock.Instant) -> Void = { _ in }, progress: @Sendable (Progress) -> Void = { _ in }
    ) async throws -> RunMeasurement {
        for (index, host) in workers.enumerated() {
            let settings = plan.settings(of: index)
            try await host.prepare { eventLoop in
                let (workload, transport) = make(index, eventLoop)
                return Worker(settings, workload: workload, transport: transport, clock: { LoadClock.now })
            }
        }
        let begin = LoadClock.now + 20_000_000
        let measuredFrom = begin + plan.plan.warmUp
        started(clock.now.advanced(by: .nanoseconds(measuredFrom - LoadClock.now)))
        for host in workers { try await host.start(at: begin) }
        let session = Session(begin: begin, measuredFrom: measuredFrom, processorTime: ThreadTime.process)
        let outcome = try await watch(session, progress)
        let measurement = try await collect(session, outcome)
        for host in workers { await host.shutDown() }
        return measurement
    }

    private struct Session {
        var begin: Nanoseconds
        var measuredFrom: Nanoseconds
        var processorTime: Nanoseconds
        var startedAtMilliseconds: Int64 { Int64(Date().timeIntervalSince1970 * 1000) - (LoadClock.now - measuredFrom) / 1_000_000 }
    }

    private struct Outcome {
        var end: RunFacts.End
        /// When new iterations ended to be begun.
        var endedAt: Nanoseconds
        var series: [SecondSample]
        var busyShare: Double
        var processorShare: Double
    }

    // MARK: While it runs

    private func watch(_ session: Session, _ progress: @Sendable (Progress) -> Void) async throws -> Outcome {
        let planned = session.measuredFrom + plan.plan.length
        var series: [SecondSample] = []
        var last = session.begin
        var counts = Counts()
        var end: RunFacts.End?
        while end == nil {
            let next = min(planned, nextLook(after: last, session))
            await sleep(until: next)
            let now = LoadClock.now
            end = try await endReason(now, planned, counts, session)
            guard end != nil || now >= next else { continue }
            let (sample, times) = try await look(session, from: last, to: now)
            series.append(sample)
            last = now
            note(sample, &counts, now)
            if end == nil { end = stopCondition(sample, counts, now) }
            if end == nil, try await hasFoundKnee(session, now) { end = .stopCondition }
            progress(progressNow(sample, times, counts, session, now))
        }
        let endedAt = min(LoadClock.now, planned)
        let (busy, processor) = try await shares(session)
        try await drain()
        let rest = try await look(session, from: last, to: LoadClock.now).sample
        if rest.succeeded + rest.failed > 0 { series.append(rest) }
        return Outcome(end: end ?? .duration, endedAt: endedAt, series: series, busyShare: busy, processorShare: processor)
    }

    /// Looks are a second apart, and one of them is at the start of the measured part.
    private func nextLook(after last: Nanoseconds, _ session: Session) -> Nanoseconds {
        let next = last + .nanosecondsPerSecond
        return last < session.measuredFrom && next > session.measuredFrom - 100_000_000 ? session.measuredFrom : next
    }

    /// Returns earlier when the run is interrupted or has nothing left to do.
    private func sleep(until moment: Nanoseconds) async {
        while LoadClock.now < moment, !interruption.withLock({ $0 }) {
            let rest = min(moment - LoadClock.now, 50_000_000)
            try? await Task.sleep(for: .nanoseconds(max(rest, 100_000)), tolerance: .zero)
            if plan.iterationLimit != nil, (try? await allFinished()) == true { return }
        }
    }

    private func allFinished() async throws -> Bool {
        for host in workers where try await !host.onLoop(\.isFinished) { return false }
        return true
    }

    private func endReason(_ now: Nanoseconds, _ planned: Nanoseconds, _ counts: Counts, _ session: Session) async throws -> RunFacts.End? {
        if interruption.withLock({ $0 }) { return .interrupted }
        if now >= planned { return .duration }
        if plan.iterationLimit != nil, now > session.begin, try await allFinished() { return .calls }
        return nil
    }

    private func note(_ sample: SecondSample, _ counts: inout Counts, _ now: Nanoseconds) {
        counts.unconnectedSince = sample.connections > 0 ? nil : counts.unconnectedSince ?? now
        guard !sample.isWarmUp else { return }
        counts.succeeded += sample.succeeded
        counts.failed += sample.failed
        counts.dropped += sample.dropped
    }

    private func stopCondition(_ sample: SecondSample, _ counts: Counts, _ now: Nanoseconds) -> RunFacts.End? {
        if let since = counts.unconnectedSince, now - since >= plan.lostAfter { return .targetLost }
        guard let share = plan.stopErrorShare, !sample.isWarmUp, sample.succeeded + sample.failed > 0 else { return nil }
        return Double(sample.failed) / Double(sample.succeeded + sample.failed) > share ? .stopCondition : nil
    }

    private func progressNow(
        _ sample: SecondSample, _ times: LatencyHistogram, _ counts: Counts, _ session: Session, _ now: Nanoseconds
    ) -> Progress {
        // The time of the sample lies before this moment.
        let elapsed = now - session.measuredFrom
        return Progress(
            sample: sample, responseTime: times, elapsed: elapsed, planned: plan.plan.length,
            level: plan.plan.level(at: now - session.begin - sample.elapsedNanoseconds / 2),
            step: plan.plan.isRamp ? plan.plan.stage(at: elapsed - sample.elapsedNanoseconds / 2).map { $0 + 1 } : nil,
            steps: plan.plan.isRamp ? plan.plan.stages.count : 0, succeeded: counts.succeeded, failed: counts.failed, dropped: counts.dropped)
    }

    private func look(_ session: Session, from: Nanoseconds, to now: Nanoseconds) async throws -> (sample: SecondSample, times: LatencyHistogram) {
        var interval = Interval()
        for host in workers { interval.add(try await host.onLoop { $0.takeInterval() }) }
        return (interval.sample(second: Double(now - session.measuredFrom) / 1e9, elapsed: now - from), interval.responseTime)
    }

    /// Two bad steps one after the other: what comes after can only be worse.
    private func hasFoundKnee(_ session: Session, _ now: Nanoseconds) async throws -> Bool {
        guard plan.plan.isRamp, !plan.rampsOn else { return false }
        // The calls of a step that just ended may still be under way.
        guard let current = plan.plan.stage(at: now - session.measuredFrom - .nanosecondsPerSecond), current >= 2 else { return false }
        let steps = try await stepResults(session, endedAt: now).prefix(current)
        let judged = plan.knee.judge(Array(steps), isClosed: plan.loop == .closed).steps
        return judged.suffix(2).allSatisfy { $0.failure != nil }
    }

    private func shares(_ session: Session) async throws -> (busy: Double, processor: Double) {
        let elapsed = Double(max(1, LoadClock.now - session.begin))
        var busiest: Nanoseconds = 0
        for host in workers { busiest = max(busiest, try await host.usedProcessorTime()) }
        return (Double(busiest) / elapsed, Double(ThreadTime.process - session.processorTime) / elapsed)
    }

    /// No new calls; waits for those under way, as long as one call may take.
    private func drain() async throws {
        for host in workers { try await host.onLoop { $0.stop() } }
        let latest = LoadClock.now + min(plan.timeout, 10 * .nanosecondsPerSecond) + 50_000_000
        while LoadClock.now < latest, try await !allFinished() { try await Task.sleep(for: .milliseconds(5)) }
        for host in workers { try await host.onLoop { $0.giveUp() } }
    }

    // MARK: Results

    private func stepResults(_ session: Session, endedAt: Nanoseconds) async throws -> [StepResult] {
        let tallies = try await mergedTallies()
        var start = session.measuredFrom
        var steps: [StepResult] = []
        for (stage, tally) in zip(plan.plan.stages, tallies) {
            let elapsed = min(endedAt, start + stage.length) - start
            start += stage.length
            guard elapsed > 0 else { break }
            steps.append(
                StepResult(
                    level: stage.from, totals: tally.totals(elapsed: elapsed), lagP99Nanoseconds: tally.lag.value(at: 99), lag: tally.lag.encoded))
        }
        return steps
    }

    private func mergedTallies() async throws -> [Tally] {
        var merged: [Tally] = []
        for host in workers {
            for (index, tally) in try await host.onLoop(\.tallies).enumerated() {
                if index < merged.count { merged[index].add(tally) } else { merged.append(tally) }
            }
        }
        return merged
    }

    private func collect(_ session: Session, _ outcome: Outcome) async throws -> RunMeasurement {
        let whole = try await mergedTallies().reduce(into: Tally()) { $0.add($1) }
        var records: [OperationRecord] = []
        var names: [String] = []
        for host in workers {
            names = try await host.onLoop { $0.workload.operations }
            for (index, record) in try await host.onLoop(\.operations).enumerated() {
                if index < records.count { records[index].add(record) } else { records.append(record) }
            }
        }
        let errors = records.reduce(into: ErrorTally()) { $0.add($1.errors) }
        let elapsed = max(0, outcome.endedAt - session.measuredFrom)
        let judged =
            plan.plan.isRamp
            ? plan.knee.judge(try await stepResults(session, endedAt: outcome.endedAt), isClosed: plan.loop == .closed) : (steps: [], knee: nil)
        return RunMeasurement(
            end: outcome.end, startedAtMilliseconds: session.startedAtMilliseconds, elapsed: elapsed, totals: whole.totals(elapsed: elapsed),
            operations: zip(names, records).map { $1.result($0) }, series: outcome.series, steps: judged.steps, knee: judged.knee,
            errors: errors.counts, generator: GeneratorVerdict.health(whole, outcome.busyShare, outcome.processorShare, plan.loop),
            iterationTime: whole.iterations > 0 && whole.sent > whole.due ? whole.iterationTime.summary : nil)
    }
}
