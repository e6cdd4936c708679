internal import Contracts
internal import StrictJson

/// MVPDs that sign people in by OAuth 2.0 or OpenID Connect (mvpd §3).
extension CatalogueReading {
    private static let tokenLifetimes: ClosedRange<UInt32> = 1...31_536_000
    private static let timeouts: ClosedRange<UInt32> = 10...60_000

    func oauth(_ value: JsonValue) -> OAuthEndpoint? {
        value.object { object in
            var oauth = OAuthEndpoint()
            readAddresses(object, &oauth)
            readClient(object, &oauth)
            oauth.scopes = object.texts("scopes") { CatalogueSyntax.isScope($0) ? nil : "must be a scope without spaces; it is '\($0)'" }
            readHomeBased(object, &oauth)
            oauth.accessTokenTtlSeconds = object.number("accessTokenTtl", Self.tokenLifetimes)
            oauth.refreshTokenTtlSeconds = object.number("refreshTokenTtl", Self.tokenLifetimes)
            oauth.userIDClaim = object.text("userIdClaim", required: false)
            oauth.attributeMap = object.optional("attributeMap")?.array(attributeMapping) ?? []
            oauth.trustAnchors = object.optional("trustAnchors")?.array(certificates.certificate) ?? []
            oauth.clockSkewSeconds = object.number("clockSkew", 1...600)
            oauth.jwksRefreshSeconds = object.number("jwksRefresh", 60...86_400)
            readTimeouts(object, &oauth)
            oauth.allowMissingCookie = object.flag("allowMissingCookie")
            oauth.callback = callback(object)
            oauth.requiresIssuer = object.flag("requiresIss")
            oauth.returnsFromLogout = object.choice("logoutReturn", ["own": true, "app": false], else: false)
            if oauth.returnsFromLogout, oauth.logoutURL.isEmpty { object.optional("logoutReturn")?.problem("must be 'own' only with a logoutUrl") }
            return oauth
        }
    }

    /// The client that an MVPD issued to the requestor of an integration.
    func oauthClient(_ object: JsonObject, of mvpd: Mvpd?) -> OAuthClient? {
        guard case .oauth(let endpoint) = mvpd.flatMap(signIn) else {
            object.optional("oauthClient")?.problem("has a meaning only for an MVPD that signs people in by OAuth")
            return nil
        }
        guard let own = object.optional("oauthClient") else {
            if endpoint.clientID.isEmpty {
                object.problem("must have an oauthClient: the MVPD '\(mvpd?.id ?? "")' has no client for every requestor")
            }
            return nil
        }
        return own.object { object in
            OAuthClient(clientID: object.text("clientId"), clientSecretReference: secretReference(object, "clientSecretReference", required: true))
        }
    }

    /// An MVPD without an own way is signed in at its proxy, as far as that was read before.
    private func signIn(of mvpd: Mvpd) -> Mvpd.SignIn? { mvpd.signIn ?? mvpds[mvpd.proxyMvpdID]?.signIn }

    /// Returns where answers come to: an address of the record's own, unless it is of before there were such (RFC 9700 §4.4.2).
    private func callback(_ object: JsonObject) -> CallbackAddress {
        let callback = object.choice("callback", ["own": CallbackAddress.own, "shared": .shared], else: .own)
        if callback == .shared, let value = object.optional("callback") {
            warn(
                "shares its callback with other records: a hostile provider may have people sign in for others; register the record's own address at the MVPD, and write 'own'",
                at: value.path)
        }
        return callback
    }

    private func readAddresses(_ object: JsonObject, _ oauth: inout OAuthEndpoint) {
        oauth.issuer = object.url("issuer")
        oauth.authorizeURL = object.url("authorizeUrl")
        oauth.tokenURL = object.url("tokenUrl")
        oauth.profileURL = object.url("profileUrl", required: false)
        oauth.jwksURL = object.url("jwksUrl", required: false)
        oauth.logoutURL = object.url("logoutUrl", required: false)
        if oauth.profileURL.isEmpty, oauth.jwksURL.isEmpty {
            object.problem("must have profileUrl or jwksUrl: without both nothing can say who the person is")
        }
    }

    /// Both or none: without a client here each integration has its own.
    private func readClient(_ object: JsonObject, _ oauth: inout OAuthEndpoint) {
        oauth.clientID = object.text("clientId", required: false)
        oauth.clientSecretReference = secretReference(object, "clientSecretReference", required: false)
        if oauth.clientID.isEmpty != oauth.clientSecretReference.isEmpty {
            object.problem("must have both or none of clientId and clientSecretReference")
        }
        oauth.clientAuthentication = object.choice("clientAuthentication", ["basic": .basic, "post": .post], else: .basic)
    }

    func secretReference(_ object: JsonObject, _ member: String, required: Bool) -> String {
        let name = object.text(member, required: required)
        guard !name.isEmpty, let value = object.optional(member) else { return name }
        if !CatalogueSyntax.isID(name) {
            value.problem("must be the name of a secret file, of letters, digits, '_' and '-'; it is never the secret itself")
        } else if let secrets = clientSecrets, !secrets.has(name) {
            // Authentication may keep it; a file that names it is not refused for that.
            warn("names the secret '\(name)', and there is no file \(secrets.path(name)); without one it must have been written", at: value.path)
        }
        return name
    }

    private func readHomeBased(_ object: JsonObject, _ oauth: inout OAuthEndpoint) {
        oauth.attemptHba = object.flag("attemptHba")
        oauth.forceAuthnParameter = object.text("forceAuthnParameter", required: oauth.attemptHba)
        oauth.forceAuthnValue = object.text("forceAuthnValue", required: !oauth.forceAuthnParameter.isEmpty)
        if CatalogueSyntax.authorizationParameters.contains(oauth.forceAuthnParameter) {
            object.optional("forceAuthnParameter")?.problem("is '\(oauth.forceAuthnParameter)', which every request has already")
        }
    }

    private func readTimeouts(_ object: JsonObject, _ oauth: inout OAuthEndpoint) {
        oauth.connectTimeoutMilliseconds = object.number("connectTimeoutMs", Self.timeouts)
        oauth.responseTimeoutMilliseconds = object.number("responseTimeoutMs", Self.timeouts)
        oauth.totalTimeoutMilliseconds = object.number("totalTimeoutMs", Self.timeouts)
    }
}

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
