internal import Contracts
internal import StrictJson

extension CatalogueReading {
    /// Seconds of a token's life: a minute to a year (dashboard §2).
    static let lifetimes: ClosedRange<UInt32> = 60...31_536_000
    /// Pixels (dashboard §2).
    static let windowSizes: ClosedRange<UInt32> = 100...2000
    static let preflightLimits: ClosedRange<UInt32> = 1...100

    func mvpd(_ value: JsonValue) -> Mvpd? {
        value.object { object in
            var mvpd = Mvpd()
            mvpd.id = object.newID { mvpds[$0] == nil }
            mvpd.displayName = object.displayName("displayName")
            readProxy(object, &mvpd)
            mvpd.logoURL = mvpd.isProxied ? object.urlOrNothing("logoUrl") : object.url("logoUrl", required: false)
            readWindow(object, &mvpd)
            if listed[mvpd.id] != nil {
                if !mvpd.id.isEmpty { mvpds[mvpd.id] = mvpd }
                return mvpd
            }
            mvpd.authPerAggregator = object.flag("authPerAggregator")
            mvpd.authPerBrowserSession = object.flag("authPerBrowserSession")
            mvpd.passiveAuthnEnabled = object.flag("passiveAuthnEnabled")
            mvpd.platforms = object.optional("platforms")?.array { platformSettings($0, mvpd: mvpd.id) } ?? []
            mvpd.upstreamOnly = object.flag("upstreamOnly")
            if mvpd.upstreamOnly {
                refuseOwnWays(object)
            } else {
                mvpd.signIn = signIn(object, isProxied: mvpd.isProxied)
                mvpd.authorization = authorization(object, of: mvpd)
                readLifetimes(object, &mvpd)
            }
            mvpd.platformOverrides = overrides(object, of: mvpd, isIntegration: false)
            mvpd.scheduledSignIn = scheduledSignIn(object, of: mvpd)
            if !mvpd.id.isEmpty { mvpds[mvpd.id] = mvpd }
            return mvpd
        }
    }

    private func readProxy(_ object: JsonObject, _ mvpd: inout Mvpd) {
        guard let proxy = object.optional("proxy") else { return }
        mvpd.isProxied = true
        var found: (id: String, provider: String) = ("", "")
        let id = mvpd.id
        proxy.object { proxy in
            if let reference = proxy.required("mvpd"), let name = reference.string() {
                proxies.append((reference, name, id))
                found.id = name
            }
            found.provider = proxy.text("providerId", required: false)
            readListing(proxy, of: id)
        }
        mvpd.proxyMvpdID = found.id
        mvpd.providerID = found.provider
    }

    private func readWindow(_ object: JsonObject, _ mvpd: inout Mvpd) {
        mvpd.iframeRequired = object.flag("iframeRequired")
        mvpd.iframeWidth = object.number("iframeWidth", Self.windowSizes)
        mvpd.iframeHeight = object.number("iframeHeight", Self.windowSizes)
        mvpd.requiresSafariViewController = object.flag("requiresSafariViewController")
        if (mvpd.iframeWidth == 0) != (mvpd.iframeHeight == 0) { object.problem("must have both or none of iframeWidth and iframeHeight") }
    }

    /// A TempPass has the lifetime of its trial; every other MVPD must say how long a decision holds (mvpd §1.2: mandatory).
    private func readLifetimes(_ object: JsonObject, _ mvpd: inout Mvpd) {
        let isTempPass = if case .tempPass = mvpd.signIn { true } else { false }
        mvpd.authnTtlSeconds = object.number("authnTtl", Self.lifetimes)
        mvpd.authzTtlSeconds = object.number("authzTtl", Self.lifetimes, required: !isTempPass)
        mvpd.hbaAuthnTtlSeconds = object.number("hbaAuthnTtl", Self.lifetimes)
        checkLifetimes(object, authn: mvpd.authnTtlSeconds, hba: mvpd.hbaAuthnTtlSeconds)
        mvpd.authnTtlFromMvpd = object.choice("authnTtlSource", ["config": false, "mvpd": true], else: false)
        mvpd.authzTtlFromMvpd = object.choice("authzTtlSource", ["config": false, "mvpd": true], else: false)
    }

    private func platformSettings(_ value: JsonValue, mvpd: String) -> PlatformSettings? {
        value.object { object in
            var settings = PlatformSettings()
            let platforms: KeyValuePairs<String, Platform> = ["ios": .ios, "tvos": .tvos, "roku": .roku, "fireTv": .fireTv]
            settings.platform = object.requiredChoice("platform", platforms) ?? .unknown
            settings.enablePlatformServices = object.flag("enablePlatformServices")
            settings.boardingStatus = object.choice("boardingStatus", ["SUPPORTED": .supported, "PICKER": .picker], else: .none)
            settings.displayInPlatformPicker = object.flag("displayInPlatformPicker")
            settings.platformMappingID = object.text("platformMappingId", required: settings.boardingStatus != .none)
            settings.requiredMetadataFields = object.texts("requiredMetadataFields")
            if settings.boardingStatus == .supported, settings.requiredMetadataFields.isEmpty {
                object.problem("must have requiredMetadataFields: without them nothing can be exchanged")
            }
            settings.enforcePlatformPermissions = object.flag("enforcePlatformPermissions")
            let key = "\(settings.platform.rawValue)/\(settings.platformMappingID)"
            if !settings.platformMappingID.isEmpty, !mappingIDs.insert(key).inserted {
                object.optional("platformMappingId")?.problem("is '\(settings.platformMappingID)', which another MVPD has on that platform")
            }
            return settings
        }
    }
}
