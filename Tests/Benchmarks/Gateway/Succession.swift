/// Calls of REST v2 beside those of REST v1 that they replace: CPU of all services for each.
struct Succession {
    let call: String
    let replaced: [String]
    /// Most that the call may cost, as a share of what it replaces.
    let goal: Double

    static let all = [
        Succession(call: "v2 configuration", replaced: ["MVPD list"], goal: 1),
        Succession(call: "v2 profiles by code", replaced: ["checkauthn"], goal: 1),
        Succession(call: "v2 profiles by code, waiting", replaced: ["checkauthn, waiting"], goal: 1),
        Succession(call: "v2 authorize, ES256", replaced: ["authorize, ES256", "media token, ES256"], goal: 0.7),
        Succession(call: "v2 authorize, reference", replaced: ["authorize, reference", "media token, reference"], goal: 0.9),
    ]

    /// - Returns: `nil` when one of them was not measured.
    func ratio(_ comparisons: [Comparison]) -> Double? {
        func cost(_ name: String) -> Double? {
            comparisons.first { $0.scenario.name == name }.map { $0.costs.filter { $0.process != "load" }.reduce(0) { $0 + $1.microseconds } }
        }
        let before = replaced.map(cost)
        guard let own = cost(call), before.allSatisfy({ $0 != nil }) else { return nil }
        let sum = before.compactMap(\.self).reduce(0, +)
        return sum > 0 ? own / sum : nil
    }
}
