/// Tests whether two ways through a program take equally long. Both run in turns, and each is compared with its neighbour. So a machine that is
/// slower for a while is slower for both.
public struct PairedTimes: Sendable, CustomStringConvertible {
    /// Times of the one and of the other way, pair by pair.
    public private(set) var first: [Duration]
    public private(set) var second: [Duration]

    /// - Parameters: Two lists of the same length, which is not 0.
    public init(_ first: [Duration], _ second: [Duration]) { (self.first, self.second) = (first, second) }

    /// Runs both, so many times each; now the one goes first, now the other. A twentieth more runs before, and does not count.
    public static func measure<Failure: Error>(
        pairs: Int, _ first: () async throws(Failure) -> Void, _ second: () async throws(Failure) -> Void
    ) async throws(Failure) -> PairedTimes {
        var times = PairedTimes([], [])
        let clock = ContinuousClock()
        for number in -(pairs / 20)..<pairs {
            let isSwapped = !number.isMultiple(of: 2)
            let start = clock.now
            if isSwapped { try await second() } else { try await first() }
            let middle = clock.now
            if isSwapped { try await first() } else { try await second() }
            guard number >= 0 else { continue }
            let (early, late) = (start.duration(to: middle), middle.duration(to: clock.now))
            times.first.append(isSwapped ? late : early)
            times.second.append(isSwapped ? early : late)
        }
        return times
    }

    /// The median of the pairs' differences, as a share of the shorter way's median time.
    public var gap: Double {
        let differences = zip(first, second).map { $1 - $0 }
        let shorter = min(Self.median(first), Self.median(second))
        return abs(Self.median(differences) / shorter)
    }

    public var description: String {
        "\(Self.median(first)) and \(Self.median(second)); of \(first.count) pairs the median difference is \((gap * 1000).rounded() / 10) %"
    }

    private static func median(_ times: [Duration]) -> Duration { times.sorted()[times.count / 2] }
}
