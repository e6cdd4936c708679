internal import Hummingbird

extension RouteTable {
    /// The calls that the vendor's SDKs make themselves (clients §3).
    static func sdk(_ dependencies: Dependencies) -> [Route] {
        let devices = DeviceCallReader(authentication: dependencies.authentication, catalogue: dependencies.catalogue)
        let calls = SdkEndpoints(
            dependencies: dependencies, reader: SdkCallReader(dependencies: dependencies, reader: devices),
            signIn: SignInEndpoints(dependencies: dependencies), decisions: AuthorizationEndpoints(dependencies: dependencies, reader: devices))
        let config = ConfigEndpoint(dependencies: dependencies)
        let identities = DeviceIdentityEndpoint(dependencies: dependencies)
        let documents = PublicDocuments(dependencies: dependencies)
        let native = NativeCalls()
        let root = "/adobe-services"
        let code = Route.CodePlace.parameter("reg_code")
        var routes = [
            Route("/indiv/devices", .api(.sdkDevices), body: .raw, [.post: identities.identify]),
            Route("/.well-known/sdk-token-keys", .api(.metadata), readable(documents.storedTokenKeys)),
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
            // Whoever comes without a bearer is told so there, whatever the length of the form.
            routes.append(
                Route("\(root)/1.0/\(call.name)", .api(.sdkStored), body: .form, code: call.code, [.post: native.standingOnBearer(call.handler)]))
        }
        return routes
    }
}
