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

    /// Where answers come to: an address of the record's own, unless it is of before there were such (RFC 9700 §4.4.2).
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
