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

/// Which upstream serves an MVPD at a requestor, and what both are called there (bridge §3.2).
public struct BridgeWay: Hashable, Sendable {
    public let upstream: BridgeUpstream
    public let bridge: RequestorBridge
    /// Ours.
    public let requestor: String
    /// Ours.
    public let mvpd: String
    /// Upstream's name of the MVPD.
    public let theirMvpd: String

    /// Upstream's name of the requestor.
    public var serviceProvider: String { bridge.serviceProvider }

    /// Upstream's name of a domain.
    public func theirDomain(_ domain: String) -> String { bridge.domainNames.first { $0.ours == domain }?.theirs ?? domain }
}

extension Catalogue {
    /// The upstream that a requestor uses, and how; `nil`: none.
    public func upstream(of requestor: Requestor) -> (upstream: BridgeUpstream, bridge: RequestorBridge)? {
        guard let bridge = requestor.bridge, let upstream = upstream(bridge.upstreamID) else { return nil }
        return (upstream, bridge)
    }

    /// The upstream with that id; `nil` when there is none.
    public func upstream(_ id: String) -> BridgeUpstream? { configuration.upstreams.first { $0.id == id } }

    /// - Returns: `nil` for an integration that has a way of its own, and where there is none.
    public func bridgeWay(requestor id: String, mvpd: String) -> BridgeWay? {
        guard let requestor = requestor(id), let (upstream, bridge) = upstream(of: requestor),
            let integration = integration(requestor: id, mvpd: mvpd), let own = integration.bridge
        else { return nil }
        let theirs = own.mvpdName.isEmpty ? bridge.mvpdNames.first { $0.ours == mvpd }?.theirs ?? mvpd : own.mvpdName
        return BridgeWay(upstream: upstream, bridge: bridge, requestor: id, mvpd: mvpd, theirMvpd: theirs)
    }

    /// The integration that stands for one that the catalogue lacks, where the requestor is upstream as a whole. The catalogue's own name of an MVPD
    /// counts alone.
    func wholeUpstream(requestor id: String, mvpd: String) -> Integration? {
        guard let requestor = requestor(id), let (_, bridge) = upstream(of: requestor), bridge.everyMvpd, Self.isMvpdID(mvpd),
            !bridge.mvpdNames.contains(where: { $0.theirs == mvpd && $0.ours != mvpd }),
            !bridgedIntegrations(requestor: id).contains(where: { $0.bridge?.mvpdName == mvpd && $0.mvpdID != mvpd })
        else { return nil }
        return Integration(
            requestorID: id, mvpdID: mvpd, enabled: true, preflightMaxResources: bridge.preflightMaxResources, bridge: IntegrationBridge())
    }

    /// True when only the upstream's list can say that there is such an integration (bridge §3.2).
    public func isListedOnly(requestor id: String, mvpd: String) -> Bool {
        !isInCatalogue(requestor: id, mvpd: mvpd) && wholeUpstream(requestor: id, mvpd: mvpd) != nil
    }

    /// Our name of an MVPD of the requestor's upstream; `nil` where none that upstream serves is called so.
    public func ourMvpd(requestor id: String, theirs: String) -> String? {
        let named = bridgedIntegrations(requestor: id).first { bridgeWay(requestor: id, mvpd: $0.mvpdID)?.theirMvpd == theirs }?.mvpdID
        let ours = named ?? requestor(id)?.bridge?.mvpdNames.first { $0.theirs == theirs }?.ours ?? theirs
        guard let integration = integration(requestor: id, mvpd: ours), integration.enabled, integration.bridge != nil else { return nil }
        return ours
    }

    /// 1 to 128 letters, digits, `_` and `-`, the first a letter or a digit.
    private static func isMvpdID(_ text: String) -> Bool {
        func isAlphanumeric(_ octet: UInt8) -> Bool {
            (0x30...0x39).contains(octet) || (0x41...0x5a).contains(octet) || (0x61...0x7a).contains(octet)
        }
        guard (1...128).contains(text.utf8.count), let first = text.utf8.first, isAlphanumeric(first) else { return false }
        return text.utf8.allSatisfy { isAlphanumeric($0) || $0 == 0x5f || $0 == 0x2d }
    }

    /// True when rules of this cluster may let people in and permit. Where an upstream decides, they may only if verifiers trust our media tokens too
    /// (bridge §10.3).
    public func permitsByRule(requestor id: String, mvpd: String) -> Bool { bridgeWay(requestor: id, mvpd: mvpd)?.bridge.localMediaTokens ?? true }

    /// The integrations that an upstream serves at a requestor, enabled or not, in catalogue order.
    public func bridgedIntegrations(requestor: String) -> [Integration] { bridgedIntegrationsByRequestor[requestor] ?? [] }
}

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
