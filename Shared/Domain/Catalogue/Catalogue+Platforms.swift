public import Contracts

/// Values by platform (dashboard §3, decision 0011).
///
/// The last of these that sets a value wins. They are the deployment's default; the MVPD for all, for the category, for the platform; the integration
/// for all, for the category, for the platform. An integration's own general value therefore comes before an MVPD's value for one platform: the
/// integration inherits the MVPD's record with its platform values.
extension Catalogue {
    /// The pair with the overrides of one scope applied.
    ///
    /// The result for a platform carries no overrides any more. The result for `all`, used while no device is known, keeps them, so that it can be
    /// resolved for a device's scope later. A value for which only one of the two has a field (name, logo, window, flags) goes into that one.
    /// - Parameters:
    ///   - integration: As it stands in the catalogue.
    ///   - mvpd: As it stands in the catalogue.
    ///   - scope: The platform or device type to resolve for.
    public static func resolved(_ integration: Integration, _ mvpd: Mvpd, scope: PlatformScope) -> (integration: Integration, mvpd: Mvpd) {
        guard !integration.platformOverrides.isEmpty || !mvpd.platformOverrides.isEmpty else { return (integration, mvpd) }
        var (integration, mvpd) = (integration, mvpd)
        for override in mvpd.platformOverrides.along(scope) { mvpd.apply(override) }
        for override in integration.platformOverrides.along(scope) {
            mvpd.applyPresentation(override)
            integration.apply(override)
        }
        if scope != .all {
            mvpd.platformOverrides = []
            integration.platformOverrides = []
        }
        return (integration, mvpd)
    }
}

extension [PlatformOverride] {
    /// Those that hold for a scope, the most general first.
    func along(_ scope: PlatformScope) -> [PlatformOverride] {
        scope.chain.flatMap { link in filter { $0.scope == link } }
    }
}

extension Mvpd {
    fileprivate mutating func apply(_ override: PlatformOverride) {
        applyPresentation(override)
        override.authnTtlSeconds.replace(&authnTtlSeconds)
        override.authzTtlSeconds.replace(&authzTtlSeconds)
        override.hbaAuthnTtlSeconds.replace(&hbaAuthnTtlSeconds)
        if override.preflightMaxResources != 0 { authorization?.preflightMaxResources = override.preflightMaxResources }
    }

    /// Applies the values of an integration's override that change how its requestor shows the MVPD.
    fileprivate mutating func applyPresentation(_ override: PlatformOverride) {
        if !override.displayName.isEmpty { displayName = override.displayName }
        if !override.logoURL.isEmpty { logoURL = override.logoURL }
        override.authPerAggregator.replace(&authPerAggregator)
        override.passiveAuthn.replace(&passiveAuthnEnabled)
        override.iframeRequired.replace(&iframeRequired)
        override.iframeWidth.replace(&iframeWidth)
        override.iframeHeight.replace(&iframeHeight)
        if override.enforcePlatformPermissions != .inherited {
            for index in platforms.indices { override.enforcePlatformPermissions.replace(&platforms[index].enforcePlatformPermissions) }
        }
    }
}

extension Integration {
    fileprivate mutating func apply(_ override: PlatformOverride) {
        override.authnTtlSeconds.replace(&authnTtlSeconds)
        override.authzTtlSeconds.replace(&authzTtlSeconds)
        override.hbaAuthnTtlSeconds.replace(&hbaAuthnTtlSeconds)
        override.preflightMaxResources.replace(&preflightMaxResources)
        override.platformSso.replace(&platformSsoEnabled)
    }
}

extension UInt32 {
    fileprivate func replace(_ value: inout UInt32) { if self != 0 { value = self } }
}

extension Switch {
    /// `nil` where the value is inherited.
    var flag: Bool? {
        switch self {
        case .on: true
        case .off: false
        case .inherited, .unrecognized: nil
        }
    }

    fileprivate func replace(_ value: inout Bool) { if let flag { value = flag } }
}
