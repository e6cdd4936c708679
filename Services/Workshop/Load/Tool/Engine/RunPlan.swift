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
    /// Of a ramp: whether it goes on after the knee.
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
