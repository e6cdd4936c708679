/// One figure of two runs.
struct ComparedFigure: Sendable, Equatable {
    enum Verdict: String, Sendable {
        case better
        case worse
        case same
        /// A difference within the noise.
        case noise = "within the noise"
        /// The typical second is the same; the difference comes from some seconds of their own kind.
        case fewSeconds = "typical second the same"
        /// The noise is unknown here.
        case unknown = "noise unknown"
    }

    /// The step of a scenario, or `nil` for all calls.
    var operation: String?
    var kind: FigureKind
    var base: Double
    var new: Double
    /// `nil` where seconds do not have the figure, or are too few.
    var seconds: SecondsComparison?

    /// A smaller difference does not count: histograms keep three digits.
    private static let least = 0.005

    /// `nil` when the base is 0 and the other is not.
    var ratio: Double? { base > 0 ? new / base : new == base ? 1 : nil }

    var verdict: Verdict {
        if let ratio, abs(ratio - 1) < Self.least { return .same }
        let isHigher = new > base
        guard let seconds else { return .unknown }
        if seconds.includesNone {
            // Chance moves the typical second within the interval; what lies far outside has another cause.
            let width = max(seconds.high - 1, 1 - seconds.low, 0.05)
            guard let ratio, ratio <= 1 + 3 * width, ratio >= 1 - 3 * width else { return .fewSeconds }
            return .noise
        }
        guard (seconds.ratio > 1) == isHigher else { return .fewSeconds }
        return isHigher == kind.isBetterWhenHigher ? .better : .worse
    }

    var name: String { operation.map { "\($0) \(kind.title)" } ?? kind.title }
    var ratioText: String { ratio.map(Self.text) ?? "from 0" }
    /// `0.98x to 1.03x`
    var noiseText: String { seconds.map { "\(Self.text($0.low)) to \(Self.text($0.high))" } ?? "–" }

    /// `1.04x`, `12x`
    static func text(_ ratio: Double) -> String { "\(Quantity.number((ratio * 1000).rounded() / 1000))x" }
}
