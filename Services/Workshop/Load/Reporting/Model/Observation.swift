/// The observation of the loaded service, the other processes and the machine during the run.
public struct Observation: Codable, Equatable, Sendable {
    /// One line of a chart; a value is absent where nothing could be read.
    public struct Series: Codable, Equatable, Sendable {
        public var name: String
        public var values: [Double?]

        public init(name: String, values: [Double?]) { (self.name, self.values) = (name, values) }
    }

    /// A chart of the service's own metrics.
    public struct Panel: Codable, Equatable, Sendable {
        public var title: String
        /// `1/s`, `ms`, or empty for a count.
        public var unit: String
        public var series: [Series]

        public init(title: String, unit: String, series: [Series]) { (self.title, self.unit, self.series) = (title, unit, series) }
    }

    /// A process on this machine.
    public struct Process: Codable, Equatable, Sendable {
        public enum Role: String, Codable, Sendable {
            /// The service under load.
            case target
            /// A service that it calls, or that answers in its place.
            case peer
            /// This program.
            case load
        }

        public var name: String
        public var pid: Int32
        public var role: Role
        /// Processor time used per second since the sample before: 1 is one core.
        public var cores: [Double?]
        public var residentBytes: [Double?]

        public init(name: String, pid: Int32, role: Role, cores: [Double?], residentBytes: [Double?]) {
            (self.name, self.pid, self.role, self.cores, self.residentBytes) = (name, pid, role, cores, residentBytes)
        }
    }

    /// A counter that grew in the measured time.
    public struct Counter: Codable, Equatable, Sendable {
        /// Name and labels as Prometheus writes them.
        public var name: String
        public var growth: Double

        public init(name: String, growth: Double) { (self.name, self.growth) = (name, growth) }
    }

    /// Each sample was taken at this time: seconds after the measured time began, negative in the warm-up.
    public var seconds: [Double] = []
    public var panels: [Panel] = []
    public var processes: [Process] = []
    /// Busy cores of the machine, with all of its processes.
    public var machineCores: [Double?] = []
    /// Cores that other guests of the same host took away.
    public var stolenCores: [Double?] = []
    /// The counters of the service that grew in the measured time, those that grew most first.
    public var counters: [Counter] = []
    /// The figures that could not be read, and the reasons.
    public var remarks: [String] = []

    public init() {}
}
