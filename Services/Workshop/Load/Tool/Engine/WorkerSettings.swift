/// One worker's share of a run.
public struct WorkerSettings: Sendable {
    public enum Loop: Sendable, Equatable {
        case open(poisson: Bool)
        case closed
    }

    public var plan: LoadPlan
    public var loop: Loop
    /// 0 to `workers - 1`.
    public var index: Int
    public var workers: Int
    /// The users of this worker at once; further arrivals are dropped.
    public var maxOutstanding: Int
    public var timeout: Nanoseconds
    /// The iterations of this worker at most.
    public var iterationLimit: Int?
    public var seed: UInt64

    public init(
        plan: LoadPlan, loop: Loop, index: Int = 0, workers: Int = 1, maxOutstanding: Int, timeout: Nanoseconds, iterationLimit: Int? = nil,
        seed: UInt64 = 1
    ) {
        self.plan = plan
        self.loop = loop
        self.index = index
        self.workers = workers
        self.maxOutstanding = maxOutstanding
        self.timeout = timeout
        self.iterationLimit = iterationLimit
        self.seed = seed
    }

    /// This worker's part of a whole, so that the parts add up to it.
    static func part(_ whole: Int, _ index: Int, _ workers: Int) -> Int { whole / workers + (index < whole % workers ? 1 : 0) }
}
