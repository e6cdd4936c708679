public import LoadReporting

/// A run, without its target.
public struct RunPlan: Sendable {
    public var plan: LoadPlan
    public var loop: WorkerSettings.Loop
    public var workers: Int
    public var connections: Int
    /// Iterations under way at most, over all workers.
    public var maxOutstanding: Int
    public var timeout: Nanoseconds
    public var iterationLimit: Int?
    public var seed: UInt64
    public var knee = KneeRule()
    /// True when a ramp goes on after the knee.
    public var rampsOn = false
    /// The run ends when no connection was open for this time.
    public var lostAfter: Nanoseconds = 5_000_000_000
    /// The run ends when within one second more than this share of the calls failed; `nil`: never.
    public var stopErrorShare: Double?

    public init(
        plan: LoadPlan, loop: WorkerSettings.Loop, workers: Int, connections: Int, maxOutstanding: Int, timeout: Nanoseconds,
        iterationLimit: Int? = nil, seed: UInt64
    ) {
        self.plan = plan
        self.loop = loop
        self.workers = workers
        self.connections = connections
        self.maxOutstanding = maxOutstanding
        self.timeout = timeout
        self.iterationLimit = iterationLimit
        self.seed = seed
    }

    func settings(of worker: Int) -> WorkerSettings {
        WorkerSettings(
            plan: plan, loop: loop, index: worker, workers: workers, maxOutstanding: max(1, WorkerSettings.part(maxOutstanding, worker, workers)),
            timeout: timeout, iterationLimit: iterationLimit.map { WorkerSettings.part($0, worker, workers) }, seed: seed)
    }
}

/// The measurement of a run, before it is made a report.
public struct RunMeasurement: Sendable {
    public var end: RunFacts.End
    public var startedAtMilliseconds: Int64
    /// The time of the measured part; shorter than planned when the run was stopped.
    public var elapsed: Nanoseconds
    public var totals: RunTotals
    public var operations: [OperationResult]
    public var series: [SecondSample]
    public var steps: [StepResult]
    public var knee: Knee?
    public var errors: [ErrorCount]
    public var generator: GeneratorHealth
    public var iterationTime: Latencies?
}

extension RunMeasurement {
    /// The part of it that a report holds.
    public init(_ report: LoadReport) {
        self.init(
            end: report.run.end, startedAtMilliseconds: report.run.startedAtMilliseconds, elapsed: report.totals.elapsedNanoseconds,
            totals: report.totals, operations: report.operations, series: report.series, steps: report.steps, knee: report.knee,
            errors: report.errors, generator: report.generator, iterationTime: report.iterationTime)
    }
}
