/// What was counted in a step, for the pages of usage. Counts are another service's, and may be any number.
struct UsageSums: Hashable, Sendable {
    /// As queries name them, in the order of the sums.
    static let metrics = [
        "authn-attempts", "authn-successful", "authn-failed", "authz-attempts", "authz-successful", "authz-failed", "authz-latency", "media-tokens",
    ]

    private var sums = [UInt64](repeating: 0, count: metrics.count)

    /// - Parameter names: Of the counts, in their order; others than those above are passed over.
    mutating func add(_ counts: [UInt64], _ names: [String]) {
        for (name, count) in zip(names, counts) {
            if let place = Self.metrics.firstIndex(of: name) { sums[place] &+= count }
        }
    }

    static func += (left: inout UsageSums, right: UsageSums) { for place in left.sums.indices { left.sums[place] &+= right.sums[place] } }

    static func -= (left: inout UsageSums, right: UsageSums) { for place in left.sums.indices { left.sums[place] &-= right.sums[place] } }

    var isEmpty: Bool { sums.allSatisfy { $0 == 0 } }

    var begun: UInt64 { sums[0] }
    var signedIn: UInt64 { sums[1] }
    var failed: UInt64 { sums[2] }
    var asked: UInt64 { sums[3] }
    var permitted: UInt64 { sums[4] }
    var denied: UInt64 { sums[5] }
    var plays: UInt64 { sums[7] }

    /// The average time of a decision in ms, rounded; `nil` without any.
    var latency: UInt64? { asked == 0 ? nil : Self.rounded(sums[6], by: 1, over: asked) }
    /// Percent, rounded; `nil` where nothing was begun.
    var signInRate: UInt64? { Self.rate(signedIn, of: begun) }
    var permitRate: UInt64? { Self.rate(permitted, of: asked) }

    private static func rate(_ part: UInt64, of whole: UInt64) -> UInt64? {
        if whole == 0 { return nil }
        return part >= whole ? 100 : rounded(part, by: 100, over: whole)
    }

    private static func rounded(_ part: UInt64, by factor: UInt64, over whole: UInt64) -> UInt64 {
        let (high, low) = part.multipliedFullWidth(by: factor)
        guard high < whole else { return .max }
        let (quotient, remainder) = whole.dividingFullWidth((high, low))
        return remainder >= whole - remainder && quotient < .max ? quotient + 1 : quotient
    }

    /// Titles of the cells of a table.
    static let columns = [
        "Sign-ins begun", "Signed in", "Failed", "Sign-in rate", "Decisions asked", "Permitted", "Denied", "Permit rate", "Latency (ms)", "Plays",
    ]

    var cells: [String] {
        [
            "\(begun)", "\(signedIn)", "\(failed)", signInRate.map { "\($0) %" } ?? "–", "\(asked)", "\(permitted)", "\(denied)",
            permitRate.map { "\($0) %" } ?? "–", latency.map { "\($0)" } ?? "–", "\(plays)",
        ]
    }
}
