public import LoadReporting

/// What a run measured, before it is made a report.
public struct RunMeasurement: Sendable {
    public var end: RunFacts.End
    public var startedAtMilliseconds: Int64
    /// Of the measured part; shorter than planned when the run was stopped.
    public var elapsed: Nanoseconds
    public var totals: RunTotals
    public var operations: [OperationResult]
    public var series: [SecondSample]
    public var steps: [StepResult]
    public var knee: Knee?
    public var errors: [ErrorCount]
    public var generator: GeneratorHealth
    public var iterationTime: Latencies?
}

extension RunMeasurement {
    /// What a report holds of it.
    public init(_ report: LoadReport) {
        self.init(
            end: report.run.end, startedAtMilliseconds: report.run.startedAtMilliseconds, elapsed: report.totals.elapsedNanoseconds,
            totals: report.totals, operations: report.operations, series: report.series, steps: report.steps, knee: report.knee,
            errors: report.errors, generator: report.generator, iterationTime: report.iterationTime)
    }
}
