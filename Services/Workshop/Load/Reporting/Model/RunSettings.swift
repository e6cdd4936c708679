/// The settings of the run.
public struct RunSettings: Codable, Sendable, Equatable {
    public enum Loop: String, Codable, Sendable {
        /// Calls are due by a schedule, independent of the service.
        case open
        /// A fixed number of users; each calls again when its last call has ended.
        case closed
    }

    public enum Arrivals: String, Codable, Sendable {
        case constant
        case poisson
    }

    /// A stretch of the schedule: the level changes evenly from its start to its end.
    public struct Stage: Codable, Sendable, Equatable {
        public var lengthNanoseconds: Int64
        /// Iterations per second, or users.
        public var fromLevel: Double
        public var toLevel: Double

        public init(lengthNanoseconds: Int64, fromLevel: Double, toLevel: Double) {
            self.lengthNanoseconds = lengthNanoseconds
            self.fromLevel = fromLevel
            self.toLevel = toLevel
        }
    }

    /// `config`, `authentication`, `authorization`, `autosignin` or `gateway`.
    public var service: String
    /// Addresses that were called: `host:port`, or base URLs.
    public var targets: [String]
    /// Name of the scenario, or the methods with their weights, for people.
    public var workload: String
    public var loop: Loop
    /// Open loop only.
    public var arrivals: Arrivals?
    /// Iterations per second at the start and at the end of the run; the same number for a constant load. Closed loop: users.
    public var fromLevel: Double
    public var toLevel: Double
    public var connections: Int
    /// Event-loop threads.
    public var workers: Int
    /// Most calls that may be outstanding before further due ones are dropped.
    public var maxOutstanding: Int
    public var timeoutNanoseconds: Int64
    public var warmUpNanoseconds: Int64
    /// Planned, without warm-up.
    public var durationNanoseconds: Int64
    /// `--calls`.
    public var callLimit: Int?
    public var seed: UInt64
    /// True when the service ran inside the tool with doubles of its peers.
    public var isIsolated: Bool
    /// The schedule, without warm-up; absent in reports of earlier versions.
    public var schedule: [Stage]?
    /// The rule by which a step of a ramp counts as past the knee.
    public var knee: KneeRule?

    public init(
        service: String, targets: [String], workload: String, loop: Loop, arrivals: Arrivals? = nil, fromLevel: Double, toLevel: Double,
        connections: Int, workers: Int, maxOutstanding: Int, timeoutNanoseconds: Int64, warmUpNanoseconds: Int64, durationNanoseconds: Int64,
        callLimit: Int? = nil, seed: UInt64, isIsolated: Bool = false, schedule: [Stage]? = nil, knee: KneeRule? = nil
    ) {
        self.service = service
        self.targets = targets
        self.workload = workload
        self.loop = loop
        self.arrivals = arrivals
        self.fromLevel = fromLevel
        self.toLevel = toLevel
        self.connections = connections
        self.workers = workers
        self.maxOutstanding = maxOutstanding
        self.timeoutNanoseconds = timeoutNanoseconds
        self.warmUpNanoseconds = warmUpNanoseconds
        self.durationNanoseconds = durationNanoseconds
        self.callLimit = callLimit
        self.seed = seed
        self.isIsolated = isIsolated
        self.schedule = schedule
        self.knee = knee
    }
}
