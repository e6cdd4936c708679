/// A demand on the results of a run, such as `p99<5ms`, `errors<0.01%`, `rate>=1000`, `Authorize:p99.9<=20ms`.
public struct Assertion: Sendable, Equatable {
    public enum Metric: Sendable, Equatable {
        /// A percentile of the response time.
        case percentile(Double)
        case mean
        case minimum
        case maximum
        /// The same from when a call was sent.
        case servicePercentile(Double)
        /// Lateness of the tool itself.
        case lagPercentile(Double)
        /// Good answers per second.
        case rate
        /// Share of the calls that ended.
        case errors
        /// Share of the iterations that were due.
        case dropped
        /// Ended calls.
        case calls
        /// The knee of a ramp: iterations per second, or users.
        case knee
    }

    public enum Comparison: String, Sendable, CaseIterable {
        // Longer ones first: `<=` begins with `<`.
        case atMost = "<="
        case atLeast = ">="
        case below = "<"
        case above = ">"

        func holds(_ measured: Double, _ limit: Double) -> Bool {
            switch self {
            case .atMost: measured <= limit
            case .atLeast: measured >= limit
            case .below: measured < limit
            case .above: measured > limit
            }
        }
    }

    public let text: String
    /// `nil`: the whole run.
    public let operation: String?
    public let metric: Metric
    public let comparison: Comparison
    /// Nanoseconds, a share from 0 to 1, per second, or a count.
    public let limit: Double

    /// - Throws: `OptionRejection` that says what an assertion looks like.
    public init(_ text: String) throws(OptionRejection) {
        let compact = text.filter { !$0.isWhitespace }
        guard let (comparison, range) = Self.find(in: compact) else { throw Self.malformed(text, "it has none of < <= > >=") }
        var name = compact[..<range.lowerBound]
        operation = name.lastIndex(of: ":").map { colon in
            defer { name = name[name.index(after: colon)...] }
            return String(name[..<colon])
        }
        guard let metric = Self.metric(String(name)) else {
            throw Self.malformed(
                text, "'\(name)' is none of p50, p99.9, ..., mean, min, max, service-p99, lag-p99, rate, errors, dropped, calls, knee")
        }
        let value = compact[range.upperBound...]
        guard let limit = Self.limit(value, of: metric) else { throw Self.malformed(text, "'\(value)' is no value of it: \(Self.example(metric))") }
        self.text = text
        self.metric = metric
        self.comparison = comparison
        self.limit = limit
    }

    private static func find(in text: String) -> (Comparison, Range<String.Index>)? {
        Comparison.allCases.compactMap { comparison in text.firstRange(of: comparison.rawValue).map { (comparison, $0) } }.first
    }

    private static func malformed(_ text: String, _ why: String) -> OptionRejection {
        OptionRejection("--assert '\(text)'", "\(why); for example 'p99<5ms', 'errors<0.01%', 'rate>=1000', 'Authorize:p99<5ms'")
    }

    private static func metric(_ name: String) -> Metric? {
        switch name {
        case "mean": return .mean
        case "min": return .minimum
        case "max": return .maximum
        case "rate": return .rate
        case "errors": return .errors
        case "dropped": return .dropped
        case "calls": return .calls
        case "knee": return .knee
        default:
            for (prefix, make) in [("service-p", Metric.servicePercentile), ("lag-p", Metric.lagPercentile), ("p", Metric.percentile)] {
                guard name.hasPrefix(prefix) else { continue }
                return Double(name.dropFirst(prefix.count)).flatMap { (0...100).contains($0) ? make($0) : nil }
            }
            return nil
        }
    }

    private static func limit(_ text: Substring, of metric: Metric) -> Double? {
        switch metric {
        case .percentile, .mean, .minimum, .maximum, .servicePercentile, .lagPercentile:
            // Without a unit, a time would be a guess.
            guard text.last?.isLetter == true else { return nil }
            return QuantityText.nanoseconds(text).map(Double.init)
        case .errors, .dropped:
            return text.hasSuffix("%")
                ? QuantityText.count(text.dropLast()).map { $0 / 100 } : QuantityText.count(text).flatMap { $0 <= 1 ? $0 : nil }
        case .rate, .knee: return text.hasSuffix("/s") ? QuantityText.count(text.dropLast(2)) : QuantityText.count(text)
        case .calls: return QuantityText.count(text)
        }
    }

    private static func example(_ metric: Metric) -> String {
        switch metric {
        case .errors, .dropped: "a share such as 0.01% or 0.0001"
        case .rate, .knee: "a rate such as 1000 or 2.5k"
        case .calls: "a count such as 1000"
        default: "a time with its unit, such as 250us or 5ms"
        }
    }
}
