internal import LoadReporting

/// What happened since the last look, for the series and the progress line.
struct Interval: Sendable {
    var due = 0
    var dropped = 0
    /// That ended whole.
    var iterations = 0
    var sent = 0
    var succeeded = 0
    var failed = 0
    var errors = ErrorTally()
    var responseTime = LatencyHistogram()
    var longestLag: Nanoseconds = 0
    /// At its end.
    var outstanding = 0
    var connections = 0

    mutating func add(_ other: Interval) {
        due += other.due
        dropped += other.dropped
        iterations += other.iterations
        sent += other.sent
        succeeded += other.succeeded
        failed += other.failed
        errors.add(other.errors)
        responseTime.add(other.responseTime)
        longestLag = max(longestLag, other.longestLag)
        outstanding += other.outstanding
        connections += other.connections
    }

    /// - Parameters:
    ///   - second: Its end, from the start of the measured part.
    ///   - elapsed: Its length.
    func sample(second: Double, elapsed: Nanoseconds) -> SecondSample {
        // The look at the end of the warm-up comes a moment late: what counts is where most of the sample lies.
        let isWarmUp = second * 2e9 <= Double(elapsed)
        return SecondSample(
            second: isWarmUp ? min(second, 0) : second, isWarmUp: isWarmUp, elapsedNanoseconds: elapsed, due: due, dropped: dropped, sent: sent,
            succeeded: succeeded,
            failed: failed, inFlight: outstanding, connections: connections, p50Nanoseconds: responseTime.value(at: 50),
            p90Nanoseconds: responseTime.value(at: 90), p99Nanoseconds: responseTime.value(at: 99), maxNanoseconds: responseTime.longest,
            lagNanoseconds: longestLag, errors: errors.byCode,
            responseTimes: responseTime.isEmpty ? nil : CompactHistogram(responseTime), iterations: iterations)
    }
}
