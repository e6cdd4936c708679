internal import Hummingbird

/// Every path that the gateway answers.
struct RouteTable {
    let routes: [Route]
    /// Where a person who typed the bare address of administration is led; `nil` where there is no console. The public listener has another route there.
    private let administrationEntrance: Route?

    init(_ dependencies: Dependencies) {
        routes =
            Self.api(dependencies) + Self.v2(dependencies) + Self.singleSignOn(dependencies) + Self.sdk(dependencies) + Self.browser(dependencies)
            + Self.administration(dependencies) + Self.console(dependencies)
            + Self.control(dependencies) + Self.autoSignIn(dependencies) + Self.devices(dependencies) + Self.usage(dependencies)
        administrationEntrance = dependencies.pages.hasConsole ? Route("/", .console, Self.readable { _ in Console.seeOther(Console.path) }) : nil
    }

    /// Whoever comes in may ask for these: whether the gateway works, and what it offers.
    private static let atEveryDoor: Set<OctetText> = ["/healthz", "/readyz", "/openapi.json"]

    /// What is served at one kind of listener; its addresses are unknown at the other.
    func routes(at door: Door) -> [Route] {
        let own = routes.filter { $0.audience.door == door || Self.atEveryDoor.contains(OctetText($0.path)) }
        return door == .administration ? own + [administrationEntrance].compactMap(\.self) : own
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
        let reference = ReferencePages(dependencies: dependencies)
        // A call without a SAML message is 503 by whatever method (mvpd §2.3).
        let methods = Route.knownMethods.filter { $0 != .options && $0 != .connect }
        let consumer = Dictionary(uniqueKeysWithValues: methods.map { ($0, signIn.consume as Route.Handler) })
        return [
            Route(
                "/api/v1/authenticate", .api(.authenticate), code: .parameter("reg_code"), beginsSignIn: true, actsOnGet: true,
                [.get: signIn.authenticate]),
            Route("/sp/saml/SAMLAssertionConsumer", .browser, body: .assertion, consumer),
            Route(SignInEndpoints.callbackPath, .browser, actsOnGet: true, [.get: signIn.callBack]),
            Route("\(SignInEndpoints.callbackPath)/{mvpd}", .browser, actsOnGet: true, [.get: signIn.callBack]),
            Route("\(SignInEndpoints.testPath)/{ticket}", .browser, beginsSignIn: true, actsOnGet: true, [.get: signIn.openTest]),
            Route("/bridge/return/{handle}", .browser, actsOnGet: true, [.get: signIn.returnFromBridge]),
            Route("/bridge/signed-out", .browser, readable(signIn.signedOut)),
            Route("/bridge/signed-out/{handle}", .browser, actsOnGet: true, [.get: logout.visited]),
            Route("/adobe-services/logout", .browser, actsOnGet: true, [.get: logout.visit]),
            Route("/adobe-services/logout/oauth", .browser, actsOnGet: true, [.get: logout.returned]),
            Route(
                "/sp/saml/LogoutServiceHTTPRedirectResponse", .browser, body: .assertion, actsOnGet: true,
                [.get: logout.receive, .post: logout.receive]),
            Route("/sp/metadata", .api(.metadata), readable(documents.metadata)),
            Route("/.well-known/media-token-certificates", .api(.metadata), readable(documents.certificates)),
            Route("/.well-known/media-token-jwks", .api(.metadata), readable(documents.keySet)),
            Route("/openapi.json", .browser, readable(documents.description)),
            Route("/", .browser, readable { _ in .redirect(to: ActivationPages.path) }),
            Route(ApiReference.path, .browser, readable(reference.index)),
            Route("\(ApiReference.path)/{group}", .browser, readable(reference.group)),
            Route("/healthz", .browser, readable(documents.health)),
            Route("/readyz", .browser, readable(documents.readiness)),
            Route("/activate", .browser, beginsSignIn: true, readable(activation.entry)),
            Route("/activate/providers", .browser, code: .page, beginsSignIn: true, readable(activation.providers)),
            Route(
                ActivationPages.startPath, .browser, body: .form, code: .page, beginsSignIn: true,
                [.get: activation.confirm, .head: activation.confirm, .post: activation.start]),
            Route(
                SignInEndpoints.confirmedPath, .browser, body: .form, code: .parameter("reg_code"), [.post: signIn.authenticateConfirmed]),
            Route("/activate/done", .browser, code: .page, readable(activation.done)),
            Route("/help/errors", .browser, readable(help.errors)),
            Route("/assets/{file}", .browser, readable(help.asset)),
        ]
    }

    static func readable(_ handler: @escaping Route.Handler) -> [HTTPRequest.Method: Route.Handler] {
        [.get: handler, .head: handler]
    }
}
