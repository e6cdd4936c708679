internal import LoadTool

/// Default number of devices that calls come from.
enum DeviceCount {
    static let range = 1...100_000
    static let standard = 50
    /// More take longer to sign in than a run lasts.
    static let most = 20_000

    /// Tokens of the reference form that a person may have for a resource in `span`, in seconds (rest-v1 §7).
    private static let tokensInSpan = 120.0
    private static let span = 120.0
    /// Devices are drawn by chance: some get more calls than others.
    private static let spread = 1.6
    /// What a closed loop may reach, iterations per second.
    private static let closedRate = 5000.0

    /// Enough devices that none asks for more media tokens than it may have, if each iteration takes one and each device belongs to another person.
    static func forMediaTokens(_ plan: RunPlan) -> Int {
        let isOpen = if case .open = plan.loop { true } else { false }
        func rate(_ level: Double) -> Double { isOpen ? level : closedRate }
        let stages = plan.plan.stages
        let first = stages.first.map { rate($0.from) * Double(plan.plan.warmUp) / 1e9 } ?? 0
        let planned = stages.reduce(first) { $0 + (rate($1.from) + rate($1.to)) / 2 * Double($1.length) / 1e9 }
        let total = plan.iterationLimit.map { min(planned, Double($0)) } ?? planned
        let highest = stages.reduce(0) { max($0, rate($1.from), rate($1.to)) }
        let needed = min(highest / (tokensInSpan / span), total / tokensInSpan) * spread
        return max(standard, Int(min(Double(most), needed.rounded(.up))))
    }
}
