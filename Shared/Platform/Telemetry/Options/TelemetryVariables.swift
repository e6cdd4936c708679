internal import ContractRuntime
internal import FoundationEssentials

/// The standard variables of OpenTelemetry; each takes precedence over the settings file.
struct TelemetryVariables {
    private let environment: [String: String]

    /// - Parameter environment: The environment of the process. An empty variable counts as none, as the specification says.
    init(_ environment: [String: String]) { self.environment = environment }

    /// Puts what they say in the place of the settings.
    /// - Throws: `TelemetryError` naming the variable.
    func apply(to options: inout TelemetryOptions) throws(TelemetryError) {
        if try flag("OTEL_SDK_DISABLED") {
            options = options.off
            return
        }
        try applyAddresses(&options)
        if let text = text("OTEL_EXPORTER_OTLP_HEADERS") { options.headers = try headers("OTEL_EXPORTER_OTLP_HEADERS", text) }
        options.timeout = try milliseconds("OTEL_EXPORTER_OTLP_TIMEOUT", 1...600_000) ?? options.timeout
        if let file = text("OTEL_EXPORTER_OTLP_CERTIFICATE") { options.trustAnchorsFile = file }
        try applyResource(&options)
        options.sampler = try sampler() ?? options.sampler
        options.metricInterval = try milliseconds("OTEL_METRIC_EXPORT_INTERVAL", 100...86_400_000) ?? options.metricInterval
        options.queueSpans = try number("OTEL_BSP_MAX_QUEUE_SIZE", 1...1_000_000) ?? options.queueSpans
        options.batchDelay = try milliseconds("OTEL_BSP_SCHEDULE_DELAY", 1...3_600_000) ?? options.batchDelay
        options.batchSpans = try number("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", 1...options.queueSpans) ?? min(options.batchSpans, options.queueSpans)
    }

    private func applyAddresses(_ options: inout TelemetryOptions) throws(TelemetryError) {
        _ = try choice("OTEL_EXPORTER_OTLP_PROTOCOL", ["http/json"])
        if let base = try address("OTEL_EXPORTER_OTLP_ENDPOINT") { options.export(to: base) }
        options.tracesURL = try address("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT") ?? options.tracesURL
        options.metricsURL = try address("OTEL_EXPORTER_OTLP_METRICS_ENDPOINT") ?? options.metricsURL
        if try choice("OTEL_TRACES_EXPORTER", ["otlp", "none"]) == "none" { options.tracesURL = nil }
        if try choice("OTEL_METRICS_EXPORTER", ["otlp", "none"]) == "none" { options.metricsURL = nil }
    }

    private func applyResource(_ options: inout TelemetryOptions) throws(TelemetryError) {
        let name = "OTEL_RESOURCE_ATTRIBUTES"
        if let text = text(name) {
            let accepted = "KEY=VALUE pairs with commas between them, other characters percent-encoded"
            for (key, value) in try pairs(name, text, accepted, isSecret: false) {
                if key == "service.name" { options.serviceName = value } else { options.resource[key] = value }
            }
        }
        options.serviceName = text("OTEL_SERVICE_NAME") ?? options.serviceName
    }

    private func sampler() throws(TelemetryError) -> Sampler? {
        let ratio = try ratio("OTEL_TRACES_SAMPLER_ARG")
        guard let name = try choice("OTEL_TRACES_SAMPLER", Sampler.names) else { return nil }
        return Sampler(name, ratio: ratio ?? 1)
    }

    private func headers(_ name: String, _ text: String) throws(TelemetryError) -> [TelemetryOptions.Header] {
        let accepted = "NAME=VALUE pairs with commas between them, other characters percent-encoded"
        let headers = try pairs(name, text, accepted, isSecret: true).map { TelemetryOptions.Header($0, $1) }
        guard headers.allSatisfy(TelemetryOptions.isHeader) else { throw TelemetryError(name, nil, accepted) }
        return headers
    }

    // MARK: Values

    private func text(_ name: String) -> String? {
        guard let value = environment[name]?.trimmingSpaces, !value.isEmpty else { return nil }
        return value
    }

    private func flag(_ name: String) throws(TelemetryError) -> Bool {
        guard let value = text(name) else { return false }
        switch value.lowercased() {
        case "true": return true
        case "false": return false
        default: throw TelemetryError(name, value, "true or false")
        }
    }

    private func choice(_ name: String, _ words: [String]) throws(TelemetryError) -> String? {
        guard let value = text(name) else { return nil }
        guard words.contains(value) else { throw TelemetryError(name, value, words.joined(separator: ", ")) }
        return value
    }

    private func address(_ name: String) throws(TelemetryError) -> String? {
        guard let value = text(name) else { return nil }
        // A value that is no address may hold a password, or the key of a vendor.
        guard TelemetryOptions.isAddress(value) else { throw TelemetryError(name, nil, TelemetryOptions.acceptedAddress) }
        return value
    }

    private func number(_ name: String, _ range: ClosedRange<Int>) throws(TelemetryError) -> Int? {
        guard let value = text(name) else { return nil }
        guard let number = Int(value), range.contains(number) else {
            throw TelemetryError(name, value, "a whole number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    private func milliseconds(_ name: String, _ range: ClosedRange<Int>) throws(TelemetryError) -> Duration? {
        guard let value = text(name) else { return nil }
        guard let number = Int(value), range.contains(number) else {
            throw TelemetryError(name, value, "a whole number of milliseconds from \(range.lowerBound) to \(range.upperBound)")
        }
        return .milliseconds(number)
    }

    private func ratio(_ name: String) throws(TelemetryError) -> Double? {
        guard let value = text(name) else { return nil }
        guard let ratio = Double(value), (0...1).contains(ratio) else { throw TelemetryError(name, value, "a number from 0 to 1") }
        return ratio
    }

    private func pairs(
        _ name: String, _ text: String, _ accepted: String, isSecret: Bool
    ) throws(TelemetryError) -> [(String, String)] {
        let problem = TelemetryError(name, isSecret ? nil : text, accepted)
        var pairs: [(String, String)] = []
        for part in text.split(separator: ",") {
            let sides = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map { String($0).trimmingSpaces }
            guard sides.count == 2, let key = sides[0].removingPercentEncoding, let value = sides[1].removingPercentEncoding, !key.isEmpty else {
                throw problem
            }
            pairs.append((key, value))
        }
        return pairs
    }
}

extension TelemetryOptions {
    /// Puts what the standard variables of OpenTelemetry say in the place of what was said before.
    /// - Parameter environment: The environment of the process.
    /// - Throws: `TelemetryError` naming the variable, and what it takes.
    public mutating func apply(environment: [String: String]) throws(TelemetryError) {
        try TelemetryVariables(environment).apply(to: &self)
    }
}

extension String {
    fileprivate var trimmingSpaces: String {
        String(drop { $0 == " " || $0 == "\t" }.reversed().drop { $0 == " " || $0 == "\t" }.reversed())
    }
}

/// Where traces and metrics go, and how. Without an address nothing is exported.
public struct TelemetryOptions: Sendable, Hashable {
    public struct Header: Sendable, Hashable {
        public let name: String
        public let value: String

        public init(_ name: String, _ value: String) { (self.name, self.value) = (name, value) }
    }

    /// Absolute; `nil`: traces are not recorded.
    public var tracesURL: String?
    /// Absolute; `nil`: metrics are not exported.
    public var metricsURL: String?
    /// On each export; they may hold a secret.
    public var headers: [Header] = []
    /// PEM; whom to trust beside nobody else; `nil`: the system's authorities.
    public var trustAnchorsFile: String?
    /// For one export, 1 ms to 10 minutes.
    public var timeout: Duration = .seconds(10)
    /// `nil`: the program's own name.
    public var serviceName: String?
    /// Further attributes of the program.
    public var resource: [String: String] = [:]
    public var sampler = Sampler.standard
    /// Between two exports of metrics.
    public var metricInterval: Duration = .seconds(60)
    /// Spans that may wait; further ones are dropped and counted.
    public var queueSpans = 2048
    /// The longest that a span waits for others.
    public var batchDelay: Duration = .seconds(5)
    /// Spans of one export at most.
    public var batchSpans = 512

    public init() {}

    public var isOn: Bool { tracesURL != nil || metricsURL != nil }

    /// The same with nothing to export.
    public var off: TelemetryOptions {
        var options = self
        (options.tracesURL, options.metricsURL) = (nil, nil)
        return options
    }

    /// Both signals go to one collector, at `v1/traces` and `v1/metrics` below its address.
    /// - Parameter base: As `isAddress` takes it.
    public mutating func export(to base: String) {
        let base = base.hasSuffix("/") ? base : base + "/"
        (tracesURL, metricsURL) = (base + "v1/traces", base + "v1/metrics")
    }

    public static let acceptedAddress = "an http or https URL without user, query or fragment"

    public static func isAddress(_ text: String) -> Bool {
        guard text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f }), let parts = URLComponents(string: text) else { return false }
        guard let scheme = parts.scheme?.lowercased(), scheme == "http" || scheme == "https", parts.host?.isEmpty == false else { return false }
        return parts.user == nil && parts.password == nil && parts.query == nil && parts.fragment == nil
    }

    /// - Returns: True when HTTP takes it as a header: a token, and a value of visible ASCII and spaces (RFC 9110 §5).
    public static func isHeader(_ header: Header) -> Bool {
        let marks = Set("!#$%&'*+-.^_`|~".utf8)
        let isName = header.name.utf8.allSatisfy { octet in
            switch octet {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
            default: marks.contains(octet)
            }
        }
        return isName && !header.name.isEmpty && header.value.utf8.allSatisfy { $0 == 0x20 || $0 > 0x20 && $0 < 0x7f }
    }
}

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
