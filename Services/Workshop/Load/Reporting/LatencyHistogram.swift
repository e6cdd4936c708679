internal import Histogram

/// Counts times to three significant digits, from one nanosecond to one hour; longer ones count as one hour.
public struct LatencyHistogram: Sendable {
    /// The longest time that is kept apart: an hour in nanoseconds.
    public static let highestNanoseconds: UInt64 = 3_600_000_000_000
    private static let digits = SignificantDigits.three

    fileprivate var histogram = Histogram<UInt64>(
        lowestDiscernibleValue: 1, highestTrackableValue: highestNanoseconds, numberOfSignificantValueDigits: digits)

    public init() {}

    /// - Parameter encoded: In the form of `encoded`, with any bucket layout.
    public init(_ encoded: EncodedHistogram) {
        for (value, count) in zip(encoded.values, encoded.counts) { histogram.record(min(value, Self.highestNanoseconds), count: count) }
    }

    public var count: Int { Int(histogram.totalCount) }
    public var isEmpty: Bool { histogram.totalCount == 0 }

    /// - Parameter nanoseconds: Negative ones count as 0.
    public mutating func record(_ nanoseconds: Int64) { histogram.record(min(UInt64(max(0, nanoseconds)), Self.highestNanoseconds)) }

    /// - Parameter times: The number of calls that took as long.
    public mutating func record(_ nanoseconds: Int64, times: Int) {
        histogram.record(min(UInt64(max(0, nanoseconds)), Self.highestNanoseconds), count: UInt64(times))
    }

    public mutating func add(_ other: LatencyHistogram) { histogram.add(other.histogram) }

    public mutating func reset() { if !isEmpty { histogram.reset() } }

    /// The largest value of the bucket at or below which that many percent of the values lie; 0 without a value.
    /// - Parameter percentile: 0 to 100.
    public func value(at percentile: Double) -> Int64 {
        guard !isEmpty else { return 0 }
        return percentile >= 100 ? longest : Int64(clamping: histogram.valueAtPercentile(percentile))
    }

    public var longest: Int64 { isEmpty ? 0 : Int64(clamping: histogram.max) }
    public var shortest: Int64 { isEmpty ? 0 : Int64(clamping: histogram.min) }

    /// The number of values that are at most that long, as far as its digits tell.
    public func count(upTo nanoseconds: Int64) -> Int {
        let limit = UInt64(max(0, nanoseconds))
        return histogram.recordedValues().reduce(0) { $1.value <= limit ? $0 + Int($1.count) : $0 }
    }

    /// The sum of all values, in nanoseconds, as far as its digits tell.
    public var sum: Double { isEmpty ? 0 : histogram.mean * Double(count) }

    /// All of it.
    public var encoded: EncodedHistogram {
        var encoded = EncodedHistogram(
            significantDigits: Int(Self.digits.rawValue), lowestNanoseconds: 1, highestNanoseconds: Self.highestNanoseconds)
        for bucket in histogram.recordedValues() {
            encoded.values.append(histogram.lowestEquivalentForValue(bucket.value))
            encoded.counts.append(bucket.count)
        }
        return encoded
    }

    public var summary: Latencies {
        // Most buckets are empty: they are looked through once, and not for each figure.
        let encoded = encoded
        let (mean, deviation) = moments(encoded)
        return Latencies(
            count: count, minNanoseconds: shortest, meanNanoseconds: mean, standardDeviationNanoseconds: deviation, maxNanoseconds: longest,
            percentiles: Latencies.usualPercentiles.map { Latencies.Percentile(percentile: $0, nanoseconds: value(at: $0)) }, histogram: encoded)
    }

    /// Mean and standard deviation, of the middles of the buckets as `Histogram` takes them; 0 without a value.
    private func moments(_ encoded: EncodedHistogram) -> (mean: Double, deviation: Double) {
        guard !isEmpty else { return (0, 0) }
        let total = Double(histogram.totalCount)
        let middles = encoded.values.map { Double(histogram.medianEquivalentForValue($0)) }
        let mean = zip(middles, encoded.counts).reduce(0) { $0 + $1.0 * Double($1.1) } / total
        let squares = zip(middles, encoded.counts).reduce(0) { $0 + ($1.0 - mean) * ($1.0 - mean) * Double($1.1) }
        return (mean, (squares / total).squareRoot())
    }
}

extension LatencyHistogram {
    /// The text form of HdrHistogram's tools, in milliseconds.
    func percentileDistribution() -> String {
        var text = ""
        histogram.outputPercentileDistribution(
            to: &text, outputValueUnitScalingRatio: 1_000_000, percentileTicksPerHalfDistance: 5, format: .plainText)
        return text
    }
}
