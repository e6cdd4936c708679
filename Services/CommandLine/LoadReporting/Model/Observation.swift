/// What was seen of the processes that took part, beside the calls.
public struct Observation: Codable, Sendable, Equatable {
    /// When each sample was taken: seconds from the start of the measured part; negative within the warm-up.
    public var seconds: [Double]
    /// Of the service's `/metrics`; empty when they could not be read.
    public var metrics: [MetricSeries]
    /// The service, and the load tool itself.
    public var processes: [ProcessSeries]
    /// What could not be read, and why: shown in the report.
    public var remarks: [String]

    public init(seconds: [Double] = [], metrics: [MetricSeries] = [], processes: [ProcessSeries] = [], remarks: [String] = []) {
        self.seconds = seconds
        self.metrics = metrics
        self.processes = processes
        self.remarks = remarks
    }

    /// One metric over time.
    public struct MetricSeries: Codable, Sendable, Equatable {
        /// With its labels, as it is in `/metrics`.
        public var name: String
        /// At the times of `Observation.seconds`; `nil` where it could not be read.
        public var values: [Double?]

        public init(name: String, values: [Double?]) {
            self.name = name
            self.values = values
        }
    }

    /// One process over time.
    public struct ProcessSeries: Codable, Sendable, Equatable {
        public var name: String
        public var pid: Int32
        public var isLoadTool: Bool
        /// Processor time per time since the sample before: 1 is one core.
        public var cores: [Double?]
        public var residentBytes: [UInt64?]

        public init(name: String, pid: Int32, isLoadTool: Bool, cores: [Double?] = [], residentBytes: [UInt64?] = []) {
            self.name = name
            self.pid = pid
            self.isLoadTool = isLoadTool
            self.cores = cores
            self.residentBytes = residentBytes
        }
    }
}
