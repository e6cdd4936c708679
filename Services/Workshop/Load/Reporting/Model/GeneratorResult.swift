/// The work of one of several generators: a line of a joined report.
public struct GeneratorResult: Codable, Sendable, Equatable {
    /// By what it was told from the others: the name of its report's file.
    public var name: String
    /// `RunFacts.id` of its report.
    public var runID: String
    public var machine: MachineFacts
    /// Its measured part began at this time: milliseconds since 1970, by its own clock.
    public var startedAtMilliseconds: Int64
    public var end: RunFacts.End
    public var connections: Int
    public var workers: Int
    /// Good answers per second.
    public var rate: Double
    public var succeeded: Int
    public var failed: Int
    public var dropped: Int
    /// The median of the response time; 0 without a call.
    public var p50Nanoseconds: Int64
    public var p99Nanoseconds: Int64
    /// 99th percentile of the lateness of the tool itself.
    public var lagP99Nanoseconds: Int64
    /// Processor time of the tool over the measured time: 1 is one core.
    public var processorShare: Double
    /// True when this generator, not the service, set its limit.
    public var wasBottleneck: Bool

    /// - Parameters:
    ///   - name: The name of the report.
    ///   - report: The report of one run.
    init(_ name: String, _ report: LoadReport) {
        func value(_ latencies: Latencies, _ percentile: Double) -> Int64 {
            latencies.count > 0 ? LatencyHistogram(latencies.histogram).value(at: percentile) : 0
        }
        let totals = report.totals
        self.name = name
        (runID, machine, startedAtMilliseconds, end) = (report.run.id, report.machine, report.run.startedAtMilliseconds, report.run.end)
        (connections, workers) = (report.settings.connections, report.settings.workers)
        (rate, succeeded, failed, dropped) = (totals.rate, totals.succeeded, totals.failed, totals.dropped)
        (p50Nanoseconds, p99Nanoseconds) = (value(totals.responseTime, 50), value(totals.responseTime, 99))
        lagP99Nanoseconds = value(report.generator.lag, 99)
        (processorShare, wasBottleneck) = (report.generator.processorShare, report.generator.wasBottleneck)
    }
}
