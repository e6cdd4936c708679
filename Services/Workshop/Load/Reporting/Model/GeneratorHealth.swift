/// The tool itself can be trusted this far in this run.
public struct GeneratorHealth: Codable, Sendable, Equatable {
    /// From when a call was due until the tool came to it; empty in a closed loop without think time.
    public var lag: Latencies
    /// Processor time of the tool over the measured time: 1 is one core. With `--isolated` the service's is in it.
    public var processorShare: Double
    /// True when the tool, not the service, set the limit.
    public var wasBottleneck: Bool
    /// Why, in one sentence; `nil` when it was not.
    public var explanation: String?

    public init(lag: Latencies, processorShare: Double, wasBottleneck: Bool, explanation: String? = nil) {
        self.lag = lag
        self.processorShare = processorShare
        self.wasBottleneck = wasBottleneck
        self.explanation = explanation
    }
}
