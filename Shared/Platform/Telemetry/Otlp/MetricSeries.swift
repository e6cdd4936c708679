/// One series of a metric at one moment: its name, its labels, and what it has counted since the program began.
public struct MetricSeries: Sendable, Hashable {
    public enum Value: Sendable, Hashable {
        /// Only goes up.
        case count(Int64)
        /// Only goes up.
        case sum(Double)
        case gauge(Double)
        /// Counts of values at most as large as each bound, without those of smaller ones; the last is of what is larger than all.
        case histogram(bounds: [Double], counts: [UInt64], sum: Double)
    }

    public let name: String
    /// The text on what it counts; empty: nobody knows.
    public let help: String
    public let labels: [Label]
    public let value: Value

    public struct Label: Sendable, Hashable {
        public let name: String
        public let value: String

        public init(_ name: String, _ value: String) { (self.name, self.value) = (name, value) }
    }

    public init(_ name: String, help: String = "", labels: [Label] = [], _ value: Value) {
        self.name = name
        self.help = help
        self.labels = labels
        self.value = value
    }

    /// By UCUM, as its name says it.
    public var unit: String {
        let base = name.hasSuffix("_total") ? name.dropLast("_total".count) : name[...]
        if base.hasSuffix("_seconds") { return "s" }
        if base.hasSuffix("_bytes") { return "By" }
        if base.hasSuffix("_writes") { return "{write}" }
        if case .gauge = value { return "" }
        return "1"
    }
}
