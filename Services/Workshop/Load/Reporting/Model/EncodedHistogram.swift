/// An HDR histogram of nanoseconds, without loss: which of its buckets hold how many values.
public struct EncodedHistogram: Codable, Sendable, Equatable {
    /// Decimal digits to which values are kept apart.
    public var significantDigits: Int
    /// The range that the buckets are laid out for, in nanoseconds.
    public var lowestNanoseconds: UInt64
    public var highestNanoseconds: UInt64
    /// The smallest value of each bucket that is not empty, ascending, and the count of each, at the same places.
    public var values: [UInt64]
    public var counts: [UInt64]

    public init(significantDigits: Int, lowestNanoseconds: UInt64, highestNanoseconds: UInt64, values: [UInt64] = [], counts: [UInt64] = []) {
        self.significantDigits = significantDigits
        self.lowestNanoseconds = lowestNanoseconds
        self.highestNanoseconds = highestNanoseconds
        self.values = values
        self.counts = counts
    }
}
