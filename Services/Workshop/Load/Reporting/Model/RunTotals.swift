/// Counts and latencies over a stretch of time.
public struct RunTotals: Codable, Sendable, Equatable {
    /// Over which the calls were due.
    public var elapsedNanoseconds: Int64
    /// Iterations that the schedule wanted begun (closed loop: that users began).
    public var due: Int
    /// Iterations that were not begun because too many calls were outstanding; they are in no latency.
    public var dropped: Int
    /// Iterations that made every step and ended.
    public var iterations: Int
    /// Calls that were sent.
    public var sent: Int
    public var succeeded: Int
    public var failed: Int
    /// Calls without an answer when the run ended; neither of the two counts above includes them.
    public var unfinished: Int
    public var requestBytes: Int
    public var answerBytes: Int
    /// From when a call was due to its answer: the user's waiting time. Failed calls are included.
    public var responseTime: Latencies
    /// From when a call was sent to its answer.
    public var serviceTime: Latencies

    public init(
        elapsedNanoseconds: Int64, due: Int, dropped: Int, iterations: Int, sent: Int, succeeded: Int, failed: Int, unfinished: Int,
        requestBytes: Int, answerBytes: Int, responseTime: Latencies, serviceTime: Latencies
    ) {
        self.elapsedNanoseconds = elapsedNanoseconds
        self.due = due
        self.dropped = dropped
        self.iterations = iterations
        self.sent = sent
        self.succeeded = succeeded
        self.failed = failed
        self.unfinished = unfinished
        self.requestBytes = requestBytes
        self.answerBytes = answerBytes
        self.responseTime = responseTime
        self.serviceTime = serviceTime
    }

    public var elapsedSeconds: Double { Double(elapsedNanoseconds) / 1e9 }
    /// Good answers per second.
    public var rate: Double { elapsedNanoseconds > 0 ? Double(succeeded) / elapsedSeconds : 0 }
    /// Iterations per second that were due.
    public var dueRate: Double { elapsedNanoseconds > 0 ? Double(due) / elapsedSeconds : 0 }
    /// Failed among the calls that ended, 0 to 1.
    public var errorShare: Double { succeeded + failed > 0 ? Double(failed) / Double(succeeded + failed) : 0 }
    /// Dropped among the iterations that were due, 0 to 1.
    public var droppedShare: Double { due > 0 ? Double(dropped) / Double(due) : 0 }
}
