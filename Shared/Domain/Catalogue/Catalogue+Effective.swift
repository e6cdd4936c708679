public import Contracts

extension Catalogue {
    /// Lists every property of a pair that can be set on several levels, with its value in one scope and the level that sets it.
    ///
    /// The precedence is that of `resolved(_:_:scope:)`. A time to live that no level sets has the deployment's default.
    /// - Parameters:
    ///   - integration: As it stands in the catalogue, not resolved.
    ///   - mvpd: As it stands in the catalogue, not resolved.
    ///   - scope: The platform or device type to look at.
    public static func effective(_ integration: Integration, _ mvpd: Mvpd, scope: PlatformScope) -> [EffectiveProperty] {
        InheritedProperty.all.map { $0.effective(integration, mvpd, scope) }
    }
}

/// One property, and how to read it on each level of the catalogue.
private struct InheritedProperty {
    let name: String
    /// The deployment's.
    let fallback: EffectiveProperty.Value
    var isMandatory = false
    var mvpd: (Mvpd) -> EffectiveProperty.Value? = { _ in nil }
    var integration: (Integration) -> EffectiveProperty.Value? = { _ in nil }
    let override: (PlatformOverride) -> EffectiveProperty.Value?
    /// False for a property that an MVPD's overrides do not have.
    var isSetByMvpd = true

    func effective(_ integration: Integration, _ mvpd: Mvpd, _ scope: PlatformScope) -> EffectiveProperty {
        var levels: [(EffectiveProperty.Value?, EffectiveProperty.Source)] = [(self.mvpd(mvpd), .mvpd)]
        if isSetByMvpd { levels += mvpd.platformOverrides.along(scope).map { (override($0), .mvpdPlatform($0.scope)) } }
        levels.append((self.integration(integration), .integration))
        levels += integration.platformOverrides.along(scope).map { (override($0), .integrationPlatform($0.scope)) }
        let found = levels.last { $0.0 != nil }
        return EffectiveProperty(
            name: name, value: found?.0 ?? fallback, source: found?.1 ?? .deployment, isMandatory: isMandatory && found?.1 == .mvpd)
    }

    static var all: [InheritedProperty] { lifetimes + signIn + presentation }

    private static var lifetimes: [InheritedProperty] {
        [
            InheritedProperty(
                name: "authnTtl", fallback: .number(seconds(Catalogue.DefaultLifetime.authn)), mvpd: { number($0.authnTtlSeconds) },
                integration: { number($0.authnTtlSeconds) }, override: { number($0.authnTtlSeconds) }),
            InheritedProperty(
                name: "authzTtl", fallback: .number(seconds(Catalogue.DefaultLifetime.authz)), isMandatory: true,
                mvpd: { number($0.authzTtlSeconds) }, integration: { number($0.authzTtlSeconds) }, override: { number($0.authzTtlSeconds) }),
            InheritedProperty(
                name: "hbaAuthnTtl", fallback: .number(0), mvpd: { number($0.hbaAuthnTtlSeconds) },
                integration: { number($0.hbaAuthnTtlSeconds) }, override: { number($0.hbaAuthnTtlSeconds) }),
            InheritedProperty(
                name: "preflightMaxResources", fallback: .number(Catalogue.defaultPreflightMaxResources),
                mvpd: { number($0.authorization?.preflightMaxResources ?? 0) }, integration: { number($0.preflightMaxResources) },
                override: { number($0.preflightMaxResources) }),
        ]
    }

    private static var signIn: [InheritedProperty] {
        [
            InheritedProperty(
                name: "platformSso", fallback: .flag(false), integration: { .flag($0.platformSsoEnabled) }, override: { flag($0.platformSso) },
                isSetByMvpd: false),
            InheritedProperty(
                name: "enforcePlatformPermissions", fallback: .flag(false),
                mvpd: { mvpd in mvpd.platforms.contains(where: \.enforcePlatformPermissions) ? .flag(true) : nil },
                override: { flag($0.enforcePlatformPermissions) }),
            InheritedProperty(
                name: "authPerAggregator", fallback: .flag(false), mvpd: { .flag($0.authPerAggregator) },
                override: { flag($0.authPerAggregator) }),
            InheritedProperty(
                name: "passiveAuthn", fallback: .flag(false), mvpd: { .flag($0.passiveAuthnEnabled) }, override: { flag($0.passiveAuthn) }),
        ]
    }

    private static var presentation: [InheritedProperty] {
        [
            InheritedProperty(
                name: "displayName", fallback: .text(""), isMandatory: true, mvpd: { text($0.displayName) }, override: { text($0.displayName) }),
            InheritedProperty(name: "logoUrl", fallback: .text(""), mvpd: { text($0.logoURL) }, override: { text($0.logoURL) }),
            InheritedProperty(
                name: "iframeRequired", fallback: .flag(false), mvpd: { .flag($0.iframeRequired) }, override: { flag($0.iframeRequired) }),
            InheritedProperty(
                name: "iframeWidth", fallback: .number(0), mvpd: { number($0.iframeWidth) }, override: { number($0.iframeWidth) }),
            InheritedProperty(
                name: "iframeHeight", fallback: .number(0), mvpd: { number($0.iframeHeight) }, override: { number($0.iframeHeight) }),
        ]
    }

    private static func number(_ value: UInt32) -> EffectiveProperty.Value? { value == 0 ? nil : .number(value) }
    private static func text(_ value: String) -> EffectiveProperty.Value? { value.isEmpty ? nil : .text(value) }
    private static func flag(_ value: Switch) -> EffectiveProperty.Value? { value.flag.map { .flag($0) } }
    private static func seconds(_ duration: Duration) -> UInt32 { UInt32(duration.components.seconds) }
}
