/// A distribution of times.
public struct Latencies: Codable, Sendable, Equatable {
    public struct Percentile: Codable, Sendable, Equatable {
        /// 0 to 100.
        public var percentile: Double
        public var nanoseconds: Int64

        public init(percentile: Double, nanoseconds: Int64) {
            self.percentile = percentile
            self.nanoseconds = nanoseconds
        }
    }

    /// The percentiles of every report.
    public static let usualPercentiles: [Double] = [50, 75, 90, 95, 99, 99.9, 99.99, 99.999, 100]

    public var count: Int
    /// All 0 without a value.
    public var minNanoseconds: Int64
    public var meanNanoseconds: Double
    public var standardDeviationNanoseconds: Double
    public var maxNanoseconds: Int64
    /// `usualPercentiles`, in their order.
    public var percentiles: [Percentile]
    /// All of it; the rest is computed from this.
    public var histogram: EncodedHistogram

    public init(
        count: Int, minNanoseconds: Int64, meanNanoseconds: Double, standardDeviationNanoseconds: Double, maxNanoseconds: Int64,
        percentiles: [Percentile], histogram: EncodedHistogram
    ) {
        self.count = count
        self.minNanoseconds = minNanoseconds
        self.meanNanoseconds = meanNanoseconds
        self.standardDeviationNanoseconds = standardDeviationNanoseconds
        self.maxNanoseconds = maxNanoseconds
        self.percentiles = percentiles
        self.histogram = histogram
    }
}
