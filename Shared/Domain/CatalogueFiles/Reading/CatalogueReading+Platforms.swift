internal import Catalogue
internal import Contracts
internal import StrictJson

extension CatalogueReading {
    private static let scopes: KeyValuePairs<String, PlatformScope> = [
        "all": .all, "desktop": .desktop, "mobile": .mobile, "ios": .ios, "android": .android, "tv": .tv, "tvos": .tvos, "roku": .roku,
        "fireTv": .fireTv, "unidentified": .unidentified,
    ]

    /// The values for some platforms in place of the inherited ones (dashboard §3).
    /// - Parameters:
    ///   - mvpd: `nil` when the reference to it is broken.
    ///   - isIntegration: Else they are an MVPD's, which says by `platforms` where it supports single sign-on.
    func overrides(_ object: JsonObject, of mvpd: Mvpd?, isIntegration: Bool) -> [PlatformOverride] {
        var seen: Set<PlatformScope> = []
        return object.optional("platformOverrides")?.array { value in
            value.object { object -> PlatformOverride? in
                var override = values(object)
                guard let scope = object.requiredChoice("scope", Self.scopes) else { return nil }
                override.scope = scope
                if !seen.insert(scope).inserted { object.problem("is a second one for '\(scope.name)'") }
                if isIntegration { readSingleSignOn(object, &override, mvpd) }
                return override
            } ?? nil
        } ?? []
    }

    private func values(_ object: JsonObject) -> PlatformOverride {
        var override = PlatformOverride()
        override.authnTtlSeconds = object.number("authnTtl", Self.lifetimes)
        override.authzTtlSeconds = object.number("authzTtl", Self.lifetimes)
        override.hbaAuthnTtlSeconds = object.number("hbaAuthnTtl", Self.lifetimes)
        checkLifetimes(object, authn: override.authnTtlSeconds, hba: override.hbaAuthnTtlSeconds)
        override.enforcePlatformPermissions = onOff(object, "enforcePlatformPermissions")
        override.authPerAggregator = onOff(object, "authPerAggregator")
        override.passiveAuthn = onOff(object, "passiveAuthn")
        override.preflightMaxResources = object.number("preflightMaxResources", Self.preflightLimits)
        override.displayName = object.displayName("displayName", required: false)
        override.logoURL = object.url("logoUrl", required: false)
        override.iframeRequired = onOff(object, "iframeRequired")
        override.iframeWidth = object.number("iframeWidth", Self.windowSizes)
        override.iframeHeight = object.number("iframeHeight", Self.windowSizes)
        if (override.iframeWidth == 0) != (override.iframeHeight == 0) { object.problem("must have both or none of iframeWidth and iframeHeight") }
        return override
    }

    /// The switch is refused where it would have no effect (dashboard §2).
    private func readSingleSignOn(_ object: JsonObject, _ override: inout PlatformOverride, _ mvpd: Mvpd?) {
        override.platformSso = onOff(object, "platformSso")
        guard override.platformSso == .on, let mvpd, !supportsSingleSignOn(mvpd, override.scope) else { return }
        let place =
            override.scope.singleSignOnPlatforms.isEmpty ? "'\(override.scope.name)' has none" : "the MVPD '\(mvpd.id)' does not support it there"
        object.optional("platformSso")?.problem("is on, but \(place)")
    }

    /// True when the MVPD supports single sign-on on one of the scope's platforms at least.
    func supportsSingleSignOn(_ mvpd: Mvpd, _ scope: PlatformScope) -> Bool {
        let platforms = scope.singleSignOnPlatforms
        return mvpd.platforms.contains { $0.enablePlatformServices && platforms.contains($0.platform) }
    }

    private func onOff(_ object: JsonObject, _ name: String) -> Switch { object.choice(name, ["on": .on, "off": .off], else: .inherited) }

    /// A home's session should not outlive one for which somebody typed a password (dashboard §2).
    func checkLifetimes(_ object: JsonObject, authn: UInt32, hba: UInt32) {
        guard authn != 0, hba > authn else { return }
        warn("is \(hba), longer than authnTtl (\(authn))", at: object.path.appending(key: "hbaAuthnTtl"))
    }
}
