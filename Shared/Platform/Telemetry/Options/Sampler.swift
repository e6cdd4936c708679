internal import ContractRuntime

/// Which traces are recorded, by the names of OpenTelemetry.
public struct Sampler: Sendable, Hashable {
    /// The share of the traces that begin here, 0 to 1.
    public let ratio: Double
    /// True when the flag that comes with a trace decides about it.
    public let obeysCallers: Bool

    public init(ratio: Double, obeysCallers: Bool) {
        self.ratio = ratio
        self.obeysCallers = obeysCallers
    }

    /// Everything, but for what a caller does not record.
    public static let standard = Sampler(ratio: 1, obeysCallers: true)

    public static let names = [
        "always_on", "always_off", "traceidratio", "parentbased_always_on", "parentbased_always_off", "parentbased_traceidratio",
    ]

    /// - Parameters:
    ///   - name: One of `names`.
    ///   - ratio: Counts for the two with a ratio.
    /// - Returns: `nil` for any other name.
    public init?(_ name: String, ratio: Double) {
        guard Self.names.contains(name) else { return nil }
        obeysCallers = name.hasPrefix("parentbased_")
        switch name.split(separator: "_").last {
        case "on": self.ratio = 1
        case "off": self.ratio = 0
        default: self.ratio = ratio
        }
    }

    var rule: SamplingRule { SamplingRule(ratio: ratio, obeysCallers: obeysCallers) }
}
