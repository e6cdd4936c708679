internal import LoadReporting

/// Counts and times of one stretch of a run, of one worker or of several.
public struct Tally: Sendable {
    public var due = 0
    public var dropped = 0
    public var iterations = 0
    public var sent = 0
    public var succeeded = 0
    public var failed = 0
    public var unfinished = 0
    public var requestBytes = 0
    public var answerBytes = 0
    var responseTime = LatencyHistogram()
    var serviceTime = LatencyHistogram()
    var iterationTime = LatencyHistogram()
    var lag = LatencyHistogram()

    mutating func record(response: Nanoseconds, service: Nanoseconds, isFailure: Bool, bytes: Int) {
        if isFailure { failed += 1 } else { succeeded += 1 }
        answerBytes += bytes
        responseTime.record(response)
        serviceTime.record(service)
    }

    mutating func add(_ other: Tally) {
        due += other.due
        dropped += other.dropped
        iterations += other.iterations
        sent += other.sent
        succeeded += other.succeeded
        failed += other.failed
        unfinished += other.unfinished
        requestBytes += other.requestBytes
        answerBytes += other.answerBytes
        responseTime.add(other.responseTime)
        serviceTime.add(other.serviceTime)
        iterationTime.add(other.iterationTime)
        lag.add(other.lag)
    }

    func totals(elapsed: Nanoseconds) -> RunTotals {
        RunTotals(
            elapsedNanoseconds: elapsed, due: due, dropped: dropped, iterations: iterations, sent: sent, succeeded: succeeded, failed: failed,
            unfinished: unfinished, requestBytes: requestBytes, answerBytes: answerBytes, responseTime: responseTime.summary,
            serviceTime: serviceTime.summary)
    }
}
