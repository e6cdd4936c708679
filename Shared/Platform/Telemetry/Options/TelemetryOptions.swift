internal import FoundationEssentials

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
