internal import Hummingbird

/// Automatic Sign-In and Sign in with Apple (apple §4; Shared/Documents/Decisions/0023-automatic-sign-in-paths.md).
extension RouteTable {
    static func autoSignIn(_ dependencies: Dependencies) -> [Route] {
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
        let refusals = Refusals(settings: dependencies.settings, pages: dependencies.pages, catalogue: dependencies.catalogue)
        let apple = AppleEndpoints(dependencies: dependencies, reader: reader, refusals: refusals)
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
}
