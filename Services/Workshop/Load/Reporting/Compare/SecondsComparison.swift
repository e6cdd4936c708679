internal import Foundation

/// How far the typical second of one run lies from that of another, and how sure that is.
///
/// Seconds that follow each other are alike, so neighbours are put together to at most 20 blocks. The blocks are then drawn anew, with replacement,
/// 1000 times (a block bootstrap). The middle 95 % of the ratios are the interval. The draws are the same each time.
struct SecondsComparison: Sendable, Equatable {
    /// Ratio of the medians of the blocks.
    let ratio: Double
    let low: Double
    let high: Double

    /// With fewer seconds the noise cannot be estimated.
    static let leastSeconds = 8
    private static let blockCount = 20
    private static let draws = 1000

    /// True when no difference at all is as likely as not to look like this.
    var includesNone: Bool { low <= 1 && high >= 1 }

    /// - Returns: `nil` when a run is too short, or a median is 0.
    init?(base: [Double], new: [Double]) {
        guard base.count >= Self.leastSeconds, new.count >= Self.leastSeconds else { return nil }
        let (old, young) = (Self.blocks(base), Self.blocks(new))
        guard let center = Self.ratio(old, young) else { return nil }
        var random = Draws()
        var ratios = (0..<Self.draws).compactMap { _ in Self.ratio(random.sample(old), random.sample(young)) }
        guard ratios.count > Self.draws / 2 else { return nil }
        ratios.sort()
        ratio = center
        low = ratios[ratios.count * 25 / 1000]
        high = ratios[min(ratios.count - 1, ratios.count * 975 / 1000)]
    }

    /// Means of neighbours.
    static func blocks(_ seconds: [Double]) -> [Double] {
        let count = min(blockCount, seconds.count)
        return (0..<count).compactMap { Array(seconds[$0 * seconds.count / count..<($0 + 1) * seconds.count / count]).mean }
    }

    static func median(_ values: [Double]) -> Double {
        var sorted = values
        sorted.sort()
        let middle = sorted.count / 2
        return sorted.isEmpty ? 0 : sorted.count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
    }

    private static func ratio(_ base: [Double], _ new: [Double]) -> Double? {
        let (old, young) = (median(base), median(new))
        return old > 0 && young >= 0 && (young / old).isFinite ? young / old : nil
    }

    /// SplitMix64 from a fixed start.
    private struct Draws {
        var state: UInt64 = 0x9e37_79b9_7f4a_7c15

        mutating func next(below limit: Int) -> Int {
            state &+= 0x9e37_79b9_7f4a_7c15
            var value = state
            value = (value ^ (value >> 30)) &* 0xbf58_476d_1ce4_e5b9
            value = (value ^ (value >> 27)) &* 0x94d0_49bb_1331_11eb
            return Int((value ^ (value >> 31)) % UInt64(limit))
        }

        mutating func sample(_ values: [Double]) -> [Double] { values.map { _ in values[next(below: values.count)] } }
    }
}
