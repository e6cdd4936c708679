internal import Catalogue
internal import Contracts
internal import Foundation
internal import StrictJson

/// Requestors and integrations are served by an upstream in this way (bridge §3.1 to §3.3).
extension CatalogueReading {
    func requestorBridge(_ object: JsonObject, of requestor: Requestor) -> RequestorBridge? {
        guard let value = object.optional("upstream") else { return nil }
        let bridge = value.object { bridge in readBridge(bridge, of: requestor) }
        guard let bridge, let upstream = upstreams[bridge.upstreamID] else { return bridge }
        checkClients(value, of: requestor, upstream)
        let provider = [OctetText(upstream.id), OctetText(bridge.serviceProvider)]
        if let other = serviceProviders.updateValue(requestor.id, forKey: provider) {
            // Profiles are those of a client, a device and a service provider: two requestors would see each other's.
            let taken = namesOthers ? "'\(other)' is already" : "another requestor is already"
            value.problem("is the service provider '\(bridge.serviceProvider)' of '\(upstream.id)', which \(taken)")
        }
        for name in ["mediaTokenTtl", "mediaTokenFormat"] where object.optional(name) != nil {
            warn("is without effect where an upstream serves: its media tokens pass as they are", at: object.path.appending(key: name))
        }
        return bridge
    }

    private func readBridge(_ object: JsonObject, of requestor: Requestor) -> RequestorBridge {
        var bridge = RequestorBridge()
        bridge.upstreamID = object.reference("upstream", "upstream", in: upstreams)
        bridge.everyMvpd = object.choice("scope", ["listed": false, "all": true], else: false)
        bridge.serviceProvider = object.text("serviceProvider", required: false)
        if bridge.serviceProvider.isEmpty {
            bridge.serviceProvider = requestor.id
        } else if !CatalogueSyntax.isID(bridge.serviceProvider) {
            object.optional("serviceProvider")?.problem("must be 1 to 128 letters, digits, '_' or '-'; it is '\(bridge.serviceProvider)'")
        }
        bridge.mvpdNames = names(object, "mvpdIds", CatalogueSyntax.isID)
        bridge.domainNames = names(object, "domainNames") { CatalogueSyntax.domainProblem($0) == nil }
        bridge.returnOrigin = returnOrigin(object, of: requestor, at: upstreams[bridge.upstreamID])
        bridge.listOrder = object.choice("mvpdOrder", ["upstream": .upstream, "catalogue": .catalogue, "displayName": .displayName], else: .upstream)
        bridge.preflightMaxResources = object.number("preflightMaxResources", 1...50, else: 5)
        bridge.localMediaTokens = object.flag("localMediaTokens")
        return bridge
    }

    private func names(_ object: JsonObject, _ name: String, _ isGood: (String) -> Bool) -> [BridgeName] {
        guard let value = object.optional(name) else { return [] }
        let names = value.object { map in
            map.entries { ours, theirs -> BridgeName? in
                guard let text = theirs.string() else { return nil }
                if !isGood(ours) || !isGood(text) { theirs.problem("must map one name to another; it maps '\(ours)' to '\(text)'") }
                return BridgeName(ours: ours, theirs: text)
            }
        }
        let read = names ?? []
        if Set(read.map { OctetText($0.theirs) }).count != read.count { value.problem("must map no two names to one") }
        return read
    }

    /// Returns where browsers come back to us: below a domain of the requestor's, so that an upstream takes the address (bridge §7.3).
    private func returnOrigin(_ object: JsonObject, of requestor: Requestor, at upstream: BridgeUpstream?) -> String {
        guard let value = object.optional("returnOrigin") else {
            warn("has no returnOrigin: sign-ins end at the app's own address, and are found by asking the upstream", at: object.path)
            return ""
        }
        guard let text = value.string() else { return "" }
        if let problem = CatalogueURL.originProblem(text) {
            value.problem(problem)
        } else if let upstream, [upstream.baseURL, upstream.userAgentBaseURL].contains(where: { OctetText($0) == OctetText(text) }) {
            value.problem("must lead here; it is the origin of the upstream '\(upstream.id)'")
        } else if let upstream, let host = URLComponents(string: text)?.host {
            let isOurs = requestor.domains.contains { host == $0.name || host.hasSuffix("." + $0.name) }
            let isHere = URLComponents(string: upstream.baseURL)?.host.map(PlainHTTP.isAllowed) == true && PlainHTTP.isAllowed(host)
            if !isOurs, !isHere { value.problem("must lie at or below a domain of the requestor; it is '\(text)'") }
        }
        return text
    }

    /// One client entry serves a requestor on a platform.
    private func checkClients(_ value: JsonValue, of requestor: Requestor, _ upstream: BridgeUpstream) {
        for (word, platform) in Self.platforms {
            // One that resets trials serves no device.
            let entries = upstream.clients.filter { entry in
                entry.scope != "temporary:passes:owner"
                    && (entry.requestorIDs.isEmpty || entry.requestorIDs.contains { OctetText($0) == OctetText(requestor.id) })
                    && (entry.platforms.isEmpty || entry.platforms.contains(platform))
            }
            if entries.count > 1 {
                value.problem(
                    "has the clients \(entries.map { "'\($0.id)'" }.joined(separator: " and ")) of '\(upstream.id)' on \(word); it must have one")
                return
            }
            if entries.isEmpty { warn("has no client of '\(upstream.id)' on \(word): nothing is offered there", at: value.path) }
        }
    }

    func integrationBridge(_ object: JsonObject, of integration: Integration) -> IntegrationBridge? {
        guard let value = object.optional("upstream") else {
            if mvpds[integration.mvpdID]?.upstreamOnly == true {
                object.problem("must have 'upstream': the MVPD '\(integration.mvpdID)' has no way of its own")
            }
            return nil
        }
        var bridge: IntegrationBridge?
        if value.isObject {
            bridge = value.object { IntegrationBridge(mvpdName: $0.text("mvpd")) }
            if let name = bridge?.mvpdName, !name.isEmpty, !CatalogueSyntax.isID(name) { value.problem("must name an MVPD; it names '\(name)'") }
        } else if let isOn = value.bool() {
            bridge = IntegrationBridge()
            if !isOn { value.problem("must be true, an object, or left out") }
        }
        if bridge != nil { check(object, value, integration) }
        return bridge
    }

    private func check(_ object: JsonObject, _ value: JsonValue, _ integration: Integration) {
        let requestor = requestors[integration.requestorID]
        guard let upstreamID = requestor?.bridge?.upstreamID else {
            if requestor != nil { value.problem("needs an 'upstream' of the requestor '\(integration.requestorID)'") }
            return
        }
        for (name, isSet) in [("autoSignIn", integration.autoSignIn), ("oauthClient", integration.oauthClient != nil)] where isSet {
            object.optional(name)?.problem("must not be there: an upstream signs people in")
        }
        if integration.preflightMaxResources > 50 {
            object.optional("preflightMaxResources")?.problem("must be at most 50 where an upstream decides")
        }
        if integration.platformSsoEnabled, upstreams[upstreamID]?.synthesizesPartnerStatus == false {
            object.optional("platformSso")?.problem("needs synthesizePartnerStatus of the upstream '\(upstreamID)'")
        }
        for (name, seconds) in [
            ("authnTtl", integration.authnTtlSeconds), ("authzTtl", integration.authzTtlSeconds), ("hbaAuthnTtl", integration.hbaAuthnTtlSeconds),
        ] where seconds != 0 {
            warn("is without effect: the upstream says how long", at: object.path.appending(key: name))
        }
    }

    func checkBridgedRequestors() {
        for (reference, id) in bridgedRequestors where requestors[id] == nil {
            reference.problem("names the requestor '\(id)', which is not in the catalogue")
        }
    }

    /// An MVPD without a way of its own has nothing of one.
    func refuseOwnWays(_ object: JsonObject) {
        for name in ["saml", "oauth", "tempPass", "authorization", "authnTtl", "authzTtl", "hbaAuthnTtl", "proxy"] {
            object.optional(name)?.problem("must not be there beside upstreamOnly")
        }
    }
}

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
