package import GatewayEdge
internal import Hummingbird

/// Everything that apps, browsers, MVPDs and backends of programmers may ask for.
enum PublicRoutes {
    static func all(_ dependencies: Dependencies) -> [Route] {
        api(dependencies) + v2(dependencies) + singleSignOn(dependencies) + sdk(dependencies) + browser(dependencies) + autoSignIn(dependencies)
            + devices(dependencies)
    }

    private static func api(_ dependencies: Dependencies) -> [Route] {
        let reader = DeviceCallReader(authentication: dependencies.authentication, catalogue: dependencies.catalogue)
        let clients = ClientEndpoints(dependencies: dependencies)
        let config = ConfigEndpoint(dependencies: dependencies)
        let codes = RegistrationCodeEndpoints(dependencies: dependencies, reader: reader)
        let sessions = SessionEndpoints(dependencies: dependencies, reader: reader)
        let decisions = AuthorizationEndpoints(dependencies: dependencies, reader: reader)
        let preauthorizations = PreauthorizationEndpoints(dependencies: dependencies, reader: reader)
        let tempPass = TempPassEndpoints(dependencies: dependencies, reader: reader)
        let platform = PlatformEndpoints(dependencies: dependencies, reader: reader)
        let metadata = MetadataEndpoint(dependencies: dependencies, reader: reader)
        let logout = LogoutEndpoint(dependencies: dependencies, reader: reader)
        return [
            Route("/o/client/register", .clientRegistration, body: .raw, [.post: clients.register]),
            Route("/o/client/token", .clientRegistration, body: .form, [.post: clients.token]),
            Route("/api/v1/config/{requestor}", .api(.config), body: .form, [.get: config.show, .post: config.show]),
            Route("/reggie/v1/{requestor}/regcode", .api(.registrationCode), body: .form, [.post: codes.create]),
            Route("/reggie/v1/{requestor}/regcode/{code}", .api(.registrationCode), code: .path, [.get: codes.show, .delete: codes.delete]),
            Route("/api/v1/checkauthn", .api(.checkAuthn), [.get: sessions.check]),
            Route("/api/v1/checkauthn/{code}", .api(.checkAuthnByCode), code: .path, [.get: sessions.checkByCode]),
            Route("/api/v1/authenticate/{code}", .api(.authnTokenByCode), code: .path, actsOnGet: true, [.get: sessions.tokenByCode]),
            Route("/api/v1/tokens/authn", .api(.authnToken), body: .assertion, [.get: sessions.token, .post: platform.exchange]),
            Route("/api/v1/{requestor}/profile-requests/{mvpd}", .api(.platform), actsOnGet: true, [.get: platform.profileRequest]),
            Route("/api/v1/tokens/usermetadata", .api(.userMetadata), [.get: metadata.show]),
            Route("/api/v1/authorize", .api(.authorize), actsOnGet: true, [.get: decisions.authorize]),
            Route(
                "/api/v1/preauthorize", .api(.preauthorize), body: .form,
                [.get: preauthorizations.preauthorize, .post: preauthorizations.preauthorize]),
            Route("/api/v1/preauthorize/{code}", .api(.preauthorize), code: .path, [.get: preauthorizations.preauthorizeByCode]),
            Route("/api/v1/tokens/authz", .api(.authzToken), [.get: decisions.token]),
            Route("/api/v1/mediatoken", .api(.mediaToken), actsOnGet: true, [.get: decisions.mediaToken]),
            Route("/api/v1/tokens/media", .api(.mediaToken), actsOnGet: true, [.get: decisions.mediaToken]),
            Route("/api/v1/logout", .api(.logout), actsOnGet: true, [.get: logout.browse, .delete: logout.delete]),
            Route("/api/v1/authenticate/freepreview", .api(.freePreview), body: .form, [.post: tempPass.preview]),
        ]
    }

    private static func browser(_ dependencies: Dependencies) -> [Route] {
        let signIn = SignInEndpoints(dependencies: dependencies)
        let documents = PublicDocuments(dependencies: dependencies)
        let activation = ActivationPages(dependencies: dependencies, signIn: signIn)
        let logout = SingleLogoutEndpoints(dependencies: dependencies)
        let help = HelpPages(pages: dependencies.pages)
        let asset: Route.Handler = { [pages = dependencies.pages] in try pages.asset($0) }
        let reference = ReferencePages(dependencies.pages)
        // A call without a SAML message is 503 by whatever method (mvpd §2.3).
        let methods = Route.knownMethods.filter { $0 != .options && $0 != .connect }
        let consumer = Dictionary(uniqueKeysWithValues: methods.map { ($0, signIn.consume as Route.Handler) })
        return [
            Route(
                "/api/v1/authenticate", .api(.authenticate), code: .parameter("reg_code"), beginsSignIn: true, actsOnGet: true,
                [.get: signIn.authenticate]),
            Route("/sp/saml/SAMLAssertionConsumer", .browser, body: .assertion, consumer),
            Route(KnownPaths.oauthCallback, .browser, actsOnGet: true, [.get: signIn.callBack]),
            Route("\(KnownPaths.oauthCallback)/{mvpd}", .browser, actsOnGet: true, [.get: signIn.callBack]),
            Route("\(KnownPaths.testSignIn)/{ticket}", .browser, beginsSignIn: true, actsOnGet: true, [.get: signIn.openTest]),
            Route("/bridge/return/{handle}", .browser, actsOnGet: true, [.get: signIn.returnFromBridge]),
            Route("/bridge/signed-out", .browser, Route.readable(signIn.signedOut)),
            Route("/bridge/signed-out/{handle}", .browser, actsOnGet: true, [.get: logout.visited]),
            Route("/adobe-services/logout", .browser, actsOnGet: true, [.get: logout.visit]),
            Route("/adobe-services/logout/oauth", .browser, actsOnGet: true, [.get: logout.returned]),
            Route(
                "/sp/saml/LogoutServiceHTTPRedirectResponse", .browser, body: .assertion, actsOnGet: true,
                [.get: logout.receive, .post: logout.receive]),
            Route("/sp/metadata", .api(.metadata), Route.readable(documents.metadata)),
            Route("/.well-known/media-token-certificates", .api(.metadata), Route.readable(documents.certificates)),
            Route("/.well-known/media-token-jwks", .api(.metadata), Route.readable(documents.keySet)),
            Route("/openapi.json", .browser, Route.readable(documents.description)),
            Route("/", .browser, Route.readable { _ in .redirect(to: ActivationPages.path) }),
            Route(ApiReference.path, .browser, Route.readable(reference.index)),
            Route("\(ApiReference.path)/{group}", .browser, Route.readable(reference.group)),
            Route("/healthz", .browser, Route.readable(documents.health)),
            Route("/readyz", .browser, Route.readable(documents.readiness)),
            Route("/activate", .browser, beginsSignIn: true, Route.readable(activation.entry)),
            Route("/activate/providers", .browser, code: .page, beginsSignIn: true, Route.readable(activation.providers)),
            Route(
                ActivationPages.startPath, .browser, body: .form, code: .page, beginsSignIn: true,
                [.get: activation.confirm, .head: activation.confirm, .post: activation.start]),
            Route(
                SignInEndpoints.confirmedPath, .browser, body: .form, code: .parameter("reg_code"), [.post: signIn.authenticateConfirmed]),
            Route("/activate/done", .browser, code: .page, Route.readable(activation.done)),
            Route("/help/errors", .browser, Route.readable(help.errors)),
            Route("/assets/{file}", .browser, Route.readable(asset)),
        ]
    }

    /// REST v2 (rest-v2, clients §4): names, formats and errors of its own over the operations that v1 has.
    private static func v2(_ dependencies: Dependencies) -> [Route] {
        let reader = AppCallReader(authentication: dependencies.authentication, catalogue: dependencies.catalogue, api: .v2)
        let configuration = ConfigurationEndpoint(reader: reader, catalogue: dependencies.catalogue)
        let sessions = SessionEndpointsV2(dependencies: dependencies, reader: reader, signIn: SignInEndpoints(dependencies: dependencies))
        let profiles = ProfileEndpoints(dependencies: dependencies, reader: reader)
        let decisions = DecisionEndpoints(dependencies: dependencies, reader: reader, pressure: Backpressure())
        var partnerReader = reader
        partnerReader.takesServiceToken = false
        let partners = PartnerEndpoints(dependencies: dependencies, reader: partnerReader)
        return [
            Route("/api/v2/{serviceProvider}/configuration", .apiV2, [.get: configuration.show]),
            Route("/api/v2/{serviceProvider}/sessions", .apiV2, body: .form, [.post: sessions.create]),
            Route(
                "/api/v2/{serviceProvider}/sessions/{code}", .apiV2, body: .form, code: .path, [.get: sessions.show, .post: sessions.resume]),
            Route(
                "/api/v2/authenticate/{serviceProvider}/{code}", .browser, code: .path, beginsSignIn: true, actsOnGet: true,
                [.get: sessions.authenticate]),
            Route("/api/v2/{serviceProvider}/sessions/sso/{partner}", .apiV2, body: .form, [.post: partners.begin]),
            Route("/api/v2/{serviceProvider}/profiles/sso/{partner}", .apiV2, body: .assertion, [.post: partners.exchange]),
            Route("/api/v2/{serviceProvider}/profiles", .apiV2, [.get: profiles.list]),
            Route("/api/v2/{serviceProvider}/profiles/{mvpd}", .apiV2, [.get: profiles.show]),
            Route("/api/v2/{serviceProvider}/profiles/code/{code}", .apiV2, code: .path, [.get: profiles.showByCode]),
            Route("/api/v2/{serviceProvider}/decisions/authorize/{mvpd}", .apiV2, body: .raw, [.post: decisions.authorize]),
            Route("/api/v2/{serviceProvider}/decisions/preauthorize/{mvpd}", .apiV2, body: .raw, [.post: decisions.preauthorize]),
            Route("/api/v2/{serviceProvider}/logout/{mvpd}", .apiV2, actsOnGet: true, [.get: profiles.logout]),
        ]
    }

    /// The service that issues service tokens (rest-v2 §2.14): beside REST v2, without a version in its paths.
    private static func singleSignOn(_ dependencies: Dependencies) -> [Route] {
        let reader = AppCallReader(authentication: dependencies.authentication, catalogue: dependencies.catalogue, api: .v2)
        let tokens = ServiceTokenEndpoints(dependencies: dependencies, reader: reader)
        return [
            Route("/api/{serviceProvider}/serviceToken", .singleSignOn(isToken: true), actsOnGet: true, [.post: tokens.issue, .get: tokens.refresh]),
            Route("/api/{serviceProvider}/link", .singleSignOn(isToken: false), [.post: tokens.link]),
            Route("/api/{serviceProvider}/unlink", .singleSignOn(isToken: false), body: .raw, [.post: tokens.unlink]),
            Route("/api/{serviceProvider}/list", .singleSignOn(isToken: false), [.get: tokens.list]),
        ]
    }

    /// The calls that the vendor's SDKs make themselves (clients §3).
    private static func sdk(_ dependencies: Dependencies) -> [Route] {
        let devices = DeviceCallReader(authentication: dependencies.authentication, catalogue: dependencies.catalogue)
        let calls = SdkEndpoints(
            dependencies: dependencies, reader: SdkCallReader(dependencies: dependencies, reader: devices),
            signIn: SignInEndpoints(dependencies: dependencies), decisions: AuthorizationEndpoints(dependencies: dependencies, reader: devices))
        let config = ConfigEndpoint(dependencies: dependencies)
        let identities = DeviceIdentityEndpoint(dependencies: dependencies)
        let documents = PublicDocuments(dependencies: dependencies)
        let script = WebSdkEndpoint(pages: dependencies.pages)
        let native = NativeCalls()
        let root = "/adobe-services"
        let code = Route.CodePlace.parameter("reg_code")
        var routes = [
            Route("/indiv/devices", .api(.sdkDevices), body: .raw, [.post: identities.identify]),
            Route("/.well-known/sdk-token-keys", .api(.metadata), Route.readable(documents.storedTokenKeys)),
            Route("/entitlement/v4/AccessEnabler.js", .script, Route.readable(script.newest)),
            Route("/entitlement/v4/{version}/AccessEnabler.js", .script, Route.readable(script.version)),
            Route(root + "/config/{requestor}", .api(.config), [.get: config.show]),
            Route(root + "/1.0/config/{requestor}", .api(.config), [.get: config.show]),
            Route(root + "/authenticate/saml", .api(.authenticate), code: code, beginsSignIn: true, actsOnGet: true, [.get: calls.authenticate]),
            Route(
                root + "/1.0/authenticate/saml", .api(.authenticate), code: code, beginsSignIn: true, actsOnGet: true,
                [.get: native.standingOnCode(calls.authenticate)]),
        ]
        let posts: [(name: String, endpoint: Endpoint, code: Route.CodePlace, handler: Route.Handler)] = [
            ("session", .sdkSession, code, calls.session), ("sessionDevice", .sdkSession, code, calls.deviceSession),
            ("authorize", .sdkStored, .nowhere, calls.authorize), ("authorizeDevice", .sdkDecision, .nowhere, calls.authorizeDevice),
            ("shortAuthorize", .sdkStored, .nowhere, calls.shortAuthorize),
            ("deviceShortAuthorize", .sdkDecision, .nowhere, calls.deviceShortAuthorize),
            ("preauthorize", .sdkDecision, .nowhere, calls.preauthorize),
        ]
        for call in posts {
            routes.append(Route("\(root)/\(call.name)", .api(call.endpoint), body: .form, code: call.code, [.post: call.handler]))
            // A caller without a bearer is told so there, whatever the length of the form.
            routes.append(
                Route("\(root)/1.0/\(call.name)", .api(.sdkStored), body: .form, code: call.code, [.post: native.standingOnBearer(call.handler)]))
        }
        return routes
    }

    /// Automatic Sign-In and Sign in with Apple (apple §4; Shared/Documents/Decisions/0023-automatic-sign-in-paths.md).
    private static func autoSignIn(_ dependencies: Dependencies) -> [Route] {
        let reader = AppCallReader(authentication: dependencies.authentication, catalogue: dependencies.catalogue)
        let tokens = TokenEndpoints(dependencies: dependencies, reader: reader)
        let owners = OwnerEndpoints(dependencies: dependencies, reader: reader)
        return [
            app("/auto-signin/v1/{requestor}/tokens", [.post: tokens.issue, .get: tokens.list]),
            app("/auto-signin/v1/{requestor}/tokens/revoke", [.post: tokens.revoke]),
            app("/auto-signin/v1/{requestor}/tokens/{family}/stored", [.post: tokens.confirm]),
            app("/auto-signin/v1/{requestor}/tokens/{family}/rotate", [.post: owners.rotate]),
            app("/auto-signin/v1/{requestor}/redeem", [.post: tokens.redeem]),
            app("/auto-signin/v1/{requestor}/accounts/{account}/revoke", [.post: owners.revokeAll]),
            app("/auto-signin/v1/{requestor}/sessions/{session}/flag", [.post: owners.flag]),
            app("/auto-signin/v1/{requestor}/web-link", [.post: tokens.webLink]),
        ] + apple(dependencies, reader)
    }

    private static func apple(_ dependencies: Dependencies, _ reader: AppCallReader) -> [Route] {
        let apple = AppleEndpoints(dependencies: dependencies, reader: reader)
        let web = AppleWebEndpoints(dependencies: dependencies)
        let notifications = NotificationEndpoint(signInWithApple: dependencies.signInWithApple, throttle: dependencies.notifications)
        return [
            app("/apple/v1/{requestor}/nonce", [.post: apple.nonce]),
            app("/apple/v1/{requestor}/signin", [.post: apple.signIn]),
            app("/apple/v1/{requestor}/link", [.post: apple.link, .delete: apple.unlink]),
            Route("/apple/v1/{requestor}/web", .browser, beginsSignIn: true, actsOnGet: true, [.get: web.start]),
            Route("/apple/v1/callback", .browser, body: .form, [.post: web.callBack]),
            Route("/apple/v1/notifications", .notification, body: .raw, [.post: notifications.receive]),
        ]
    }

    private static func app(_ path: String, _ handlers: [HTTPRequest.Method: Route.Handler]) -> Route {
        Route(path, .autoSignIn, body: .raw, handlers)
    }

    /// The pages on which people see their devices.
    private static func devices(_ dependencies: Dependencies) -> [Route] {
        let pages = DevicesPages(dependencies: dependencies)
        return [
            Route(DevicesPages.path, .browser, Route.readable(pages.show)),
            Route("/devices/open", .browser, body: .form, [.post: pages.open]),
            Route("/devices/open/{handle}", .browser, Route.readable(pages.openLink)),
            Route("/devices/opt-out", .browser, body: .form, [.post: pages.optOut]),
            Route("/devices/sign-out-everywhere", .browser, body: .form, [.post: pages.signOutEverywhere]),
            Route("/devices/sign-out", .browser, body: .form, [.post: pages.signOut]),
            Route("/devices/account", .browser, body: .form, [.post: pages.makeAccount]),
        ]
    }
}

/// The gateway's public routes: v1, v2, the calls of the SDKs, Automatic Sign-In, and the pages of viewers.
package struct PublicApi: Sendable {
    package let routes: [Route]
    package let faces: PublicFaces

    package init(_ dependencies: Dependencies) {
        routes = PublicRoutes.all(dependencies)
        faces = PublicFaces(
            api: V1Face(dependencies.catalogue, dependencies.notices), apiV2: V2Face(), singleSignOn: SingleSignOnFace(),
            clientRegistration: ClientRegistrationFace(),
            autoSignIn: AutoSignInFace(), notification: NotificationFace(), browser: BrowserFace(dependencies.notices))
    }
}
