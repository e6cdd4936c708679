/// One second of a run.
public struct SecondSample: Codable, Sendable, Equatable {
    /// Seconds from the start of the measured part to the end of this sample; not above 0 within the warm-up.
    public var second: Double
    public var isWarmUp: Bool
    /// This sample is this long; the last one may be short.
    public var elapsedNanoseconds: Int64
    /// Iterations that came due, and that were dropped.
    public var due: Int
    public var dropped: Int
    /// Calls sent, and ended.
    public var sent: Int
    public var succeeded: Int
    public var failed: Int
    /// Outstanding at its end, those that wait for a connection included.
    public var inFlight: Int
    public var connections: Int
    /// Response time of the calls that ended in it; 0 without one.
    public var p50Nanoseconds: Int64
    public var p90Nanoseconds: Int64
    public var p99Nanoseconds: Int64
    public var maxNanoseconds: Int64
    /// The largest lateness of the tool itself.
    public var lagNanoseconds: Int64
    public var errors: [String: Int]
    /// The response times of the calls that ended in it; absent without one, and in reports of earlier versions.
    public var responseTimes: CompactHistogram?
    /// Iterations that ended whole in it; absent in reports of earlier versions.
    public var iterations: Int?

    public init(
        second: Double, isWarmUp: Bool, elapsedNanoseconds: Int64, due: Int, dropped: Int, sent: Int, succeeded: Int, failed: Int, inFlight: Int,
        connections: Int, p50Nanoseconds: Int64, p90Nanoseconds: Int64, p99Nanoseconds: Int64, maxNanoseconds: Int64, lagNanoseconds: Int64,
        errors: [String: Int] = [:], responseTimes: CompactHistogram? = nil, iterations: Int? = nil
    ) {
        self.second = second
        self.isWarmUp = isWarmUp
        self.elapsedNanoseconds = elapsedNanoseconds
        self.due = due
        self.dropped = dropped
        self.sent = sent
        self.succeeded = succeeded
        self.failed = failed
        self.inFlight = inFlight
        self.connections = connections
        self.p50Nanoseconds = p50Nanoseconds
        self.p90Nanoseconds = p90Nanoseconds
        self.p99Nanoseconds = p99Nanoseconds
        self.maxNanoseconds = maxNanoseconds
        self.lagNanoseconds = lagNanoseconds
        self.errors = errors
        self.responseTimes = responseTimes
        self.iterations = iterations
    }
}
