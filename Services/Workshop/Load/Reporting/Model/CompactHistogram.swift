internal import Foundation

/// The numbers of times by length, to 8 significant bits (within 0.4 %), as one short text: for the many seconds of a series.
///
/// The text lists the buckets that are not empty, ascending. Each has the distance in nanoseconds of its lower end from the one before, the first
/// from 0. After a `*` it has the number of values that it holds, where that is not one: `524288*3 4096 4096*2`.
public struct CompactHistogram: Codable, Sendable, Equatable {
    private static let bits = 8

    public let text: String
    private let buckets: [Bucket]

    private struct Bucket: Sendable, Equatable {
        var low: UInt64
        var count: UInt64

        /// Half of its width above its lower end: what all of its values are taken for.
        var middle: UInt64 {
            let width = low >> (CompactHistogram.bits - 1)
            return width > 1 ? low + (UInt64(1) << (63 - width.leadingZeroBitCount)) / 2 : low
        }
    }

    public init(_ histogram: LatencyHistogram) {
        var buckets: [Bucket] = []
        let encoded = histogram.encoded
        for (value, count) in zip(encoded.values, encoded.counts) {
            let low = Self.lowerEnd(of: value)
            if buckets.last?.low == low { buckets[buckets.count - 1].count += count } else { buckets.append(Bucket(low: low, count: count)) }
        }
        var last: UInt64 = 0
        text = buckets.map { bucket in
            defer { last = bucket.low }
            return bucket.count == 1 ? "\(bucket.low - last)" : "\(bucket.low - last)*\(bucket.count)"
        }.joined(separator: " ")
        self.buckets = buckets
    }

    /// - Throws: `DecodingError` for what is no such text.
    public init(from decoder: any Decoder) throws {
        text = try decoder.singleValueContainer().decode(String.self)
        guard let buckets = Self.buckets(text) else {
            throw DecodingError.dataCorrupted(.init(codingPath: decoder.codingPath, debugDescription: "a histogram of a second is damaged"))
        }
        self.buckets = buckets
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }

    public var count: Int { Int(clamping: buckets.reduce(0) { $0 + $1.count }) }

    func add(to histogram: inout LatencyHistogram) {
        for bucket in buckets { histogram.record(Int64(clamping: bucket.middle), times: Int(clamping: bucket.count)) }
    }

    private static func lowerEnd(of value: UInt64) -> UInt64 {
        let surplus = max(0, 64 - value.leadingZeroBitCount - bits)
        return (value >> surplus) << surplus
    }

    /// `nil` for what cannot be one: a bucket beyond the longest time, or more values than a run can have.
    private static func buckets(_ text: String) -> [Bucket]? {
        var (buckets, low, total) = ([Bucket](), UInt64(0), UInt64(0))
        for entry in text.split(separator: " ") {
            let parts = entry.split(separator: "*", omittingEmptySubsequences: false)
            guard parts.count <= 2, let distance = number(parts[0]), let count = parts.count == 2 ? number(parts[1]) : 1 else { return nil }
            low += distance
            total += count
            guard low <= LatencyHistogram.highestNanoseconds * 2, total <= LoadReport.mostCounted, buckets.last.map({ $0.low < low }) ?? true else {
                return nil
            }
            buckets.append(Bucket(low: low, count: count))
        }
        return buckets
    }

    private static func number(_ text: Substring) -> UInt64? {
        guard text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = UInt64(text), number <= LoadReport.mostCounted else { return nil }
        return number
    }
}
