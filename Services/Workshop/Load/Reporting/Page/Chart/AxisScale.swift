internal import Foundation

/// Maps values to a place on an axis, 0 to 1, and knows where ticks belong.
struct AxisScale: Sendable, Equatable {
    enum Kind: Sendable, Equatable {
        case linear
        case logarithmic
    }

    /// Reports come from files: a larger value cannot be a measured one.
    private static let farthest = 1e30

    let kind: Kind
    let low: Double
    let high: Double
    /// Ascending, within the range.
    let ticks: [Double]

    /// Linear, from 0 or from `low` to at least the largest value, ending at a tick.
    init(linearTo largest: Double, from low: Double = 0, tickCount: Int = 5) {
        kind = .linear
        let top = largest > low && largest < Self.farthest ? largest : low + 1
        let step = Self.niceStep((top - low) / Double(max(1, tickCount)))
        let end = (top / step - 1e-9).rounded(.up) * step
        self.low = low
        high = max(end, low + step)
        let first = (low / step - 1e-9).rounded(.up)
        ticks = (0...Int((high / step - first + 1e-9).rounded(.down))).map { (first + Double($0)) * step }
    }

    /// Linear over exactly that range.
    init(exactly range: ClosedRange<Double>, tickCount: Int = 8) {
        kind = .linear
        low = range.lowerBound
        high = range.upperBound > range.lowerBound ? range.upperBound : range.lowerBound + 1
        let step = Self.niceStep((high - low) / Double(max(1, tickCount)))
        let first = (low / step - 1e-9).rounded(.up)
        let last = (high / step + 1e-9).rounded(.down)
        ticks = last >= first ? (0...Int(last - first)).map { (first + Double($0)) * step } : []
    }

    /// Logarithmic over both values, ending at 1, 2 or 5 times a power of ten.
    /// - Precondition: A value that is not above 0 is taken for the smallest value that is.
    init(logarithmicFrom smallest: Double, to largest: Double) {
        kind = .logarithmic
        let least = smallest > 1 / Self.farthest && smallest < Self.farthest ? smallest : 1
        let most = largest > least && largest < Self.farthest ? largest : least * 10
        low = Self.step(below: least)
        high = Self.step(above: max(most, low * 5))
        let decades = Int(floor(log10(low) + 1e-9))...Int(ceil(log10(high) - 1e-9))
        // With many decades only their beginnings.
        let factors: [Double] = decades.count > 5 ? [1] : decades.count > 3 ? [1, 3] : [1, 2, 5]
        let range = low * 0.999...high * 1.001
        ticks = decades.flatMap { decade in factors.map { $0 * pow(10, Double(decade)) } }.filter { range.contains($0) }
    }

    /// 0 at the low end, 1 at the high one; values beyond are put at the ends. `nil` for a value that is no number.
    func place(_ value: Double) -> Double? {
        guard value.isFinite else { return nil }
        let fraction =
            switch kind {
            case .linear: (value - low) / (high - low)
            case .logarithmic: value > 0 ? log(value / low) / log(high / low) : 0
            }
        return min(1, max(0, fraction))
    }

    /// 1, 2, 2.5 or 5 times a power of ten, at least as large as the step.
    static func niceStep(_ step: Double) -> Double {
        guard step.isFinite, step > 0 else { return 1 }
        let power = pow(10, floor(log10(step)))
        let factor = [1, 2, 2.5, 5, 10].first { $0 * power >= step * (1 - 1e-9) } ?? 10
        return factor * power
    }

    private static func step(below value: Double) -> Double {
        let power = pow(10, floor(log10(value)))
        return ([5, 2, 1].first { $0 * power <= value * 1.0001 } ?? 1) * power
    }

    private static func step(above value: Double) -> Double {
        let power = pow(10, floor(log10(value)))
        return ([1, 2, 5, 10].first { $0 * power >= value * 0.9999 } ?? 10) * power
    }
}

extension AxisScale {
    /// Linear over that range with those ticks.
    init(exactly range: ClosedRange<Double>, ticks: [Double]) {
        self.init(kind: .linear, low: range.lowerBound, high: max(range.upperBound, range.lowerBound + 1e-9), ticks: ticks)
    }

    fileprivate init(kind: Kind, low: Double, high: Double, ticks: [Double]) {
        (self.kind, self.low, self.high, self.ticks) = (kind, low, high, ticks)
    }
}

extension AxisScale {
    /// The same axis in another unit.
    func scaled(by factor: Double) -> AxisScale { AxisScale(kind: kind, low: low * factor, high: high * factor, ticks: ticks.map { $0 * factor }) }
}
