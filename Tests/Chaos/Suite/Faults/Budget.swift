import CommandKit

/// The cost that a fault may have. Everything that a budget does not name must go on as if nothing had happened.
struct Budget: Sendable {
    /// The share of an operation's requests that may fail from the beginning of the fault until one second after its end; not named: none.
    var shares: [Operation: Double] = [:]
    /// The share of all requests in that time.
    var total = 1.0
    /// Operations whose connection may break; for all others a failure is an answer.
    var breaking: Set<Operation> = []
    /// Documented refusals beside 503 with `Retry-After`.
    var tolerated: [Operation: Set<Int>] = [:]
    /// How long the cluster may go on refusing in those ways, as documented; `nil`: not at all.
    var aftermath: Duration?
    /// The longest that a failed request may take.
    var longestFailure: Duration = .seconds(1)
    /// The same for a request that began when the fault was there already; `nil`: as for those that were under way.
    var longestNewFailure: Duration?
    /// From the moment the service listens again until nothing fails any more.
    var recovery: Duration = .seconds(1)
    /// The fault must be felt: at least one request fails. Otherwise the experiment showed nothing.
    var mustHurt = true

    /// While a service is away: what needs it fails, at once, and nothing else does.
    static func away(_ service: ClusterService) -> Budget {
        var budget = Budget(shares: Dictionary(uniqueKeysWithValues: needing(service).map { ($0, 1) }))
        switch service {
        case .gateway: budget.breaking = Set(needing(.gateway))
        case .sandbox:
            budget.breaking = [.mvpd]
            // The MVPD that decides is away (rest-v1 §3.14).
            budget.tolerated = [.authorize: [403]]
            // The breaker of an MVPD's decision point counts failures for 30 s and stays open for 15 s (mvpd §4.3). Then probes close it. Where half
            // of the calls failed, one more failure, of the next fault, opens it late.
            budget.aftermath = .seconds(48)
        default: break
        }
        return budget
    }

    /// While several are away.
    static func away(_ services: [ClusterService]) -> Budget {
        services.map { away($0) }.reduce(into: Budget()) { sum, one in
            sum.shares.merge(one.shares) { max($0, $1) }
            sum.breaking.formUnion(one.breaking)
            sum.tolerated.merge(one.tolerated) { $0.union($1) }
            sum.aftermath = [sum.aftermath, one.aftermath].compactMap { $0 }.max()
        }
    }

    /// For faults that every request may meet, but only few may feel.
    /// - Parameters:
    ///   - total: Share of all requests that may fail.
    ///   - longest: Time that a failed request may take.
    static func anywhere(total: Double, longest: Duration = .seconds(1), mustHurt: Bool = false) -> Budget {
        let shares = Dictionary(uniqueKeysWithValues: Operation.allCases.filter { ![.mvpd, .config].contains($0) }.map { ($0, 1.0) })
        return Budget(shares: shares, total: total, longestFailure: longest, mustHurt: mustHurt)
    }

    /// The operations that cannot be done without the service.
    static func needing(_ service: ClusterService) -> [Operation] {
        switch service {
        case .gateway: Operation.allCases.filter { $0 != .mvpd }
        case .config: [.draft, .push, .versions]
        // Each decision and each opt-in asks for the session; config and the catalogue's administration do not.
        case .authentication: Operation.allCases.filter { ![.config, .draft, .push, .versions, .mvpd].contains($0) }
        case .authorization: [.authorize, .permission, .media]
        case .autosignin: [.optIn, .optInStored, .redeem, .optOut]
        case .sandbox: [.mvpd, .authorize]
        }
    }
}
