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

/// Failures by code.
struct ErrorTally: Sendable {
    private struct Entry: Sendable {
        var count: Int
        var example: String
    }

    private var entries: [String: Entry] = [:]

    var isEmpty: Bool { entries.isEmpty }

    mutating func record(_ code: String, _ message: String) { entries[code, default: Entry(count: 0, example: message)].count += 1 }

    mutating func add(_ other: ErrorTally) {
        for (code, entry) in other.entries { entries[code, default: Entry(count: 0, example: entry.example)].count += entry.count }
    }

    var byCode: [String: Int] { entries.mapValues(\.count) }

    /// Most frequent first.
    var counts: [ErrorCount] {
        entries.map { ErrorCount(code: $0.key, count: $0.value.count, example: $0.value.example.isEmpty ? nil : $0.value.example) }
            .sorted { ($1.count, $0.code) < ($0.count, $1.code) }
    }
}

/// Judges whether the tool itself set the limit.
enum GeneratorVerdict {
    /// Share of the time that a thread may be busy before its work delays what it measures.
    private static let busyLimit = 0.9
    /// Lateness that is negligible compared with the measured times.
    private static let lagLimit: Nanoseconds = 1_000_000

    /// - Parameters:
    ///   - busyShare: Processor time of the busiest worker's thread, 1 is all the time.
    ///   - processorShare: The same of the whole process, 1 is one core.
    static func health(_ tally: Tally, _ busyShare: Double, _ processorShare: Double, _ loop: WorkerSettings.Loop) -> GeneratorHealth {
        let explanation = explanation(tally, busyShare, loop)
        return GeneratorHealth(
            lag: tally.lag.summary, processorShare: processorShare, wasBottleneck: explanation != nil, explanation: explanation)
    }

    private static func explanation(_ tally: Tally, _ busyShare: Double, _ loop: WorkerSettings.Loop) -> String? {
        if busyShare > busyLimit {
            return "A thread of the tool was busy \(Quantity.share(busyShare)) of the time: add --workers, or run it on a machine of its own."
        }
        let lag = tally.lag.value(at: 99)
        guard loop != .closed, lag > lagLimit, lag * 4 > tally.responseTime.value(at: 99) else { return nil }
        return
            "1 of 100 calls was begun \(Quantity.time(lag)) late or more, a large part of the response times: the machine is too busy for this rate."
    }
}

/// The record of one operation.
struct OperationRecord: Sendable {
    var sent = 0
    var succeeded = 0
    var failed = 0
    var responseTime = LatencyHistogram()
    var serviceTime = LatencyHistogram()
    var errors = ErrorTally()

    mutating func record(response: Nanoseconds, service: Nanoseconds, failure: String?, _ message: String) {
        if let failure {
            failed += 1
            errors.record(failure, message)
        } else {
            succeeded += 1
        }
        responseTime.record(response)
        serviceTime.record(service)
    }

    mutating func add(_ other: OperationRecord) {
        sent += other.sent
        succeeded += other.succeeded
        failed += other.failed
        responseTime.add(other.responseTime)
        serviceTime.add(other.serviceTime)
        errors.add(other.errors)
    }

    func result(_ name: String) -> OperationResult {
        OperationResult(
            name: name, sent: sent, succeeded: succeeded, failed: failed, responseTime: responseTime.summary, serviceTime: serviceTime.summary,
            errors: errors.counts)
    }
}

/// The events since the last look, for the series and the progress line.
struct Interval: Sendable {
    var due = 0
    var dropped = 0
    /// The iterations that ended whole.
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
