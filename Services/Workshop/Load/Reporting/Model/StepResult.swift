/// One step of a ramp.
public struct StepResult: Codable, Sendable, Equatable {
    /// Iterations per second, or users.
    public var level: Double
    public var totals: RunTotals
    /// 99th percentile of the lateness of the tool itself.
    public var lagP99Nanoseconds: Int64
    /// All of that lateness; absent in reports of earlier versions.
    public var lag: EncodedHistogram?
    /// This step counts as past the knee for this reason; `nil` for a good one.
    public var failure: KneeCriterion?

    public init(level: Double, totals: RunTotals, lagP99Nanoseconds: Int64, lag: EncodedHistogram? = nil, failure: KneeCriterion? = nil) {
        self.level = level
        self.totals = totals
        self.lagP99Nanoseconds = lagP99Nanoseconds
        self.lag = lag
        self.failure = failure
    }

    /// Most of the waiting time was the tool's own lateness: whatever the step shows, it shows of the tool.
    public var hasLateTool: Bool {
        totals.responseTime.count > 0 && lagP99Nanoseconds * 2 > LatencyHistogram(totals.responseTime.histogram).value(at: 99)
    }
}

/// By what a step is past the knee.
public enum KneeCriterion: String, Codable, Sendable {
    /// Fewer good answers than were due.
    case throughput
    /// The 99th percentile of the response time is too high.
    case latency
    /// Too many calls failed.
    case errors
    /// The tool itself was late: the service may well do more.
    case generator
}

/// The highest load that was served well.
public struct Knee: Codable, Sendable, Equatable {
    /// The last good level, iterations per second or users; `nil` when even the first step was bad.
    public var level: Double?
    /// Good answers per second there.
    public var rate: Double?
    /// The first bad level; `nil` when there was none.
    public var failedLevel: Double?
    public var criterion: KneeCriterion?
    /// The finding in one sentence.
    public var explanation: String

    /// A step beyond it was bad by the service's own fault. Otherwise the highest good step is no knee: the service may do more.
    public var isReached: Bool { failedLevel != nil && criterion != .generator }

    public init(level: Double?, rate: Double?, failedLevel: Double?, criterion: KneeCriterion?, explanation: String) {
        self.level = level
        self.rate = rate
        self.failedLevel = failedLevel
        self.criterion = criterion
        self.explanation = explanation
    }
}
