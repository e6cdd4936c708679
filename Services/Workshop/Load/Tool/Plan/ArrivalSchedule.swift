internal import Foundation

/// When the iterations of one worker are due, in nanoseconds from the start of the warm-up.
///
/// The number of arrivals up to a moment is the integral of the rate; the nth one is due where the integral reaches n. For Poisson arrivals the
/// steps between the values to reach are exponentially distributed with mean 1 instead of being 1.
struct ArrivalSchedule {
    private struct Piece {
        var start: Double
        var length: Double
        /// Arrivals before it.
        var before: Double
        /// Per nanosecond.
        var from: Double
        var to: Double

        var count: Double { (from + to) / 2 * length }

        /// Returns when that many arrivals of it have come.
        func moment(_ count: Double) -> Double {
            let slope = (to - from) / length
            // This solves from·t + slope/2·t² = count, in the form that does not cancel when the slope is small.
            return start + 2 * count / (from + (from * from + 2 * slope * count).squareRoot())
        }
    }

    private var pieces: [Piece] = []
    private let isPoisson: Bool
    private var random: SplitMix
    private var reached: Double
    private var place = 0
    /// The next iteration is due at this time; `nil` when there are no more.
    private(set) var next: Nanoseconds?

    /// - Parameters:
    ///   - share: This worker's part of the rate.
    ///   - phase: The place of the first constant arrival between two of them, 0 to 1, so that the workers do not call at the same moments.
    init(_ stages: [LoadPlan.Stage], share: Double, phase: Double, isPoisson: Bool, seed: UInt64) {
        self.isPoisson = isPoisson
        random = SplitMix(seed: seed)
        reached = phase
        var start = 0.0
        var before = 0.0
        for stage in stages where stage.length > 0 {
            let piece = Piece(start: start, length: Double(stage.length), before: before, from: stage.from * share / 1e9, to: stage.to * share / 1e9)
            pieces.append(piece)
            start += piece.length
            before += piece.count
        }
        if isPoisson { reached = random.exponential() }
        find()
    }

    mutating func advance() {
        reached += isPoisson ? random.exponential() : 1
        find()
    }

    private mutating func find() {
        while place < pieces.count {
            let piece = pieces[place]
            if reached < piece.before + piece.count {
                next = Nanoseconds(piece.moment(reached - piece.before))
                return
            }
            place += 1
        }
        next = nil
    }
}

/// A small seeded generator of random numbers: the same seed gives the same run.
public struct SplitMix: RandomNumberGenerator, Sendable {
    private var state: UInt64

    public init(seed: UInt64) { state = seed }

    public mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }

    /// From 0 to below 1.
    public mutating func unit() -> Double { Double(next() >> 11) * 0x1p-53 }

    /// Exponentially distributed with mean 1.
    public mutating func exponential() -> Double { -log(1 - unit()) }
}
