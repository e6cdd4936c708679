public import Contracts

/// How long tokens live; the last level that sets a value wins: deployment, MVPD, integration (mvpd §1.1). For a
/// device, take the pair that `requireIntegration(requestor:mvpd:platform:)` resolved for its platform.
extension Catalogue {
    /// Used where neither the MVPD nor the integration sets a value (rest-v1 §5).
    public enum DefaultLifetime {
        public static let authn: Duration = .seconds(30 * 24 * 3600)
        public static let authz: Duration = .seconds(24 * 3600)
        public static let mediaToken: Duration = .seconds(420)
    }

    /// Lifetime of a session (rest-v1 §5): the integration's, else the MVPD's, else 30 days.
    public static func authnLifetime(_ integration: Integration, _ mvpd: Mvpd) -> Duration {
        lifetime(integration.authnTtlSeconds, mvpd.authnTtlSeconds, DefaultLifetime.authn)
    }

    /// Lifetime of a session from home-based authentication; `authnLifetime` where none is set.
    public static func hbaAuthnLifetime(_ integration: Integration, _ mvpd: Mvpd) -> Duration {
        lifetime(integration.hbaAuthnTtlSeconds, mvpd.hbaAuthnTtlSeconds, authnLifetime(integration, mvpd))
    }

    /// Lifetime of an authorization (rest-v1 §5): the integration's, else the MVPD's, else 24 hours.
    public static func authzLifetime(_ integration: Integration, _ mvpd: Mvpd) -> Duration {
        lifetime(integration.authzTtlSeconds, mvpd.authzTtlSeconds, DefaultLifetime.authz)
    }

    /// Lifetime of a media token (rest-v1 §7): the requestor's, else 420 seconds.
    public static func mediaTokenLifetime(_ requestor: Requestor) -> Duration {
        requestor.mediaTokenTtlSeconds == 0 ? DefaultLifetime.mediaToken : .seconds(Int64(requestor.mediaTokenTtlSeconds))
    }

    /// How many resources one preauthorization may ask about (dashboard §2).
    public static func preflightMaxResources(_ integration: Integration, _ mvpd: Mvpd) -> Int {
        let values = [integration.preflightMaxResources, mvpd.authorization?.preflightMaxResources ?? 0, defaultPreflightMaxResources]
        return values.first { $0 != 0 }.map(Int.init) ?? 0
    }

    static let defaultPreflightMaxResources: UInt32 = 5

    private static func lifetime(_ integration: UInt32, _ mvpd: UInt32, _ fallback: Duration) -> Duration {
        if integration != 0 { return .seconds(Int64(integration)) }
        return mvpd != 0 ? .seconds(Int64(mvpd)) : fallback
    }
}
