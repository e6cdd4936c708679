/// The results of one load run: the content of the JSON report, and the source of every other form of report.
///
/// Every duration is in the unit that its name ends with. A reader must refuse a report of an unknown `format`.
public struct LoadReport: Codable, Sendable, Equatable {
    /// The `format` of reports that this version writes. The number grows when a field changes its meaning or goes; new fields do not change it.
    public static let currentFormat = "boxoffice-load/1"

    public var format: String
    public var run: RunFacts
    public var settings: RunSettings
    public var machine: MachineFacts
    /// The loaded service was built in this way; absent in reports of earlier versions.
    public var serviceBuild: ServiceBuild?
    /// Over the measured part of the run: warm-up is excluded.
    public var totals: RunTotals
    /// The same by operation (an RPC method, or a step of a scenario), in the order of the workload; empty ones included.
    public var operations: [OperationResult]
    /// One per second from the start of the warm-up on.
    public var series: [SecondSample]
    /// The steps of a ramp, in its order; empty without one.
    public var steps: [StepResult]
    /// For a ramp: the knee, if the run searched for it.
    public var knee: Knee?
    /// Failed calls by code, most frequent first.
    public var errors: [ErrorCount]
    public var assertions: [AssertionResult]
    /// How well the tool itself kept its schedule.
    public var generator: GeneratorHealth
    /// From when an iteration was due to its end, think times included; only of scenarios with several calls.
    public var iterationTime: Latencies?
    /// The observation of the processes during the run, if they were observed.
    public var observation: Observation?
    /// The generators from which a joined report is made.
    public var generators: [GeneratorResult]?
    /// The notes of a joined report on how the generators fitted together.
    public var joining: [String]?

    /// More than any run counts; a report that says so is refused, and sums of several stay far from overflowing.
    static let mostCounted: UInt64 = 1 << 50

    public init(
        run: RunFacts, settings: RunSettings, machine: MachineFacts, totals: RunTotals, operations: [OperationResult] = [],
        series: [SecondSample] = [], steps: [StepResult] = [], knee: Knee? = nil, errors: [ErrorCount] = [], assertions: [AssertionResult] = [],
        generator: GeneratorHealth, iterationTime: Latencies? = nil, observation: Observation? = nil
    ) {
        format = Self.currentFormat
        self.run = run
        self.settings = settings
        self.machine = machine
        self.totals = totals
        self.operations = operations
        self.series = series
        self.steps = steps
        self.knee = knee
        self.errors = errors
        self.assertions = assertions
        self.generator = generator
        self.iterationTime = iterationTime
        self.observation = observation
    }

    /// True when every assertion held.
    public var hasPassed: Bool { assertions.allSatisfy(\.hasHeld) }

    /// True when the service or the tool was built for development: the figures then say nothing about speed.
    public var isOfDebugBuild: Bool { serviceBuild == .debug || machine.build == ServiceBuild.debug.rawValue }
}
