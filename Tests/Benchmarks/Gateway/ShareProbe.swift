import GatewayEdge

/// Calls the limits by application and requestor as each request does.
struct ShareProbe: Sendable {
    private let shares: FairShares
    private let bearers: [String]

    /// - Parameters:
    ///   - bearers: Different ones that call in turn.
    ///   - applications: To which they belong.
    init(bearers: Int, applications: Int) {
        shares = FairShares(
            settings: ShareSettings(perApplication: 1_000_000, applicationBurst: 1_000_000, perRequestor: 1_000_000, requestorBurst: 1_000_000),
            clock: SteadyClock())
        // As long as an access token.
        self.bearers = (0..<bearers).map { "\($0)." + String(repeating: "x", count: 400) }
        for (index, bearer) in self.bearers.enumerated() {
            for requestor in 0..<Self.requestors { shares.learn(bearer, for: Self.name(requestor), of: "application-\(index % applications)") }
        }
    }

    /// - Returns: The number of calls that passed.
    func call(_ calls: Int) -> Int {
        (0..<calls).count { (try? shares.begin(.bearer(bearers[$0 % bearers.count]), requestor: Self.name($0 % Self.requestors))) != nil }
    }

    private static let requestors = 8

    private static func name(_ requestor: Int) -> String { "ACME\(requestor)" }
}
