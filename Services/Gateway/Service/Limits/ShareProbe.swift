internal import Clocks

/// Calls the limits by application and requestor as each request does; for programs that measure them.
package struct ShareProbe: Sendable {
    private let shares: FairShares
    private let bearers: [String]

    /// - Parameters:
    ///   - bearers: Different ones that call in turn.
    ///   - applications: To which they belong.
    package init(bearers: Int, applications: Int) {
        shares = FairShares(
            settings: ShareSettings(perApplication: 1_000_000, applicationBurst: 1_000_000, perRequestor: 1_000_000, requestorBurst: 1_000_000),
            clock: SteadyClock())
        // As long as an access token.
        self.bearers = (0..<bearers).map { "\($0)." + String(repeating: "x", count: 400) }
        for (index, bearer) in self.bearers.enumerated() { shares.learn(bearer, of: "application-\(index % applications)") }
    }

    /// - Returns: How many calls passed.
    package func call(_ calls: Int) -> Int {
        (0..<calls).count { (try? shares.begin(.bearer(bearers[$0 % bearers.count]), requestor: "ACME\($0 % 8)")) != nil }
    }
}
