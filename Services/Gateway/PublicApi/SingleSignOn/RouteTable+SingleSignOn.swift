internal import Hummingbird

/// The service that issues service tokens (rest-v2 §2.14): beside REST v2, without a version in its paths.
extension RouteTable {
    static func singleSignOn(_ dependencies: Dependencies) -> [Route] {
        let reader = AppCallReader(authentication: dependencies.authentication, catalogue: dependencies.catalogue, api: .v2)
        let tokens = ServiceTokenEndpoints(dependencies: dependencies, reader: reader)
        return [
            Route("/api/{serviceProvider}/serviceToken", .singleSignOn(isToken: true), actsOnGet: true, [.post: tokens.issue, .get: tokens.refresh]),
            Route("/api/{serviceProvider}/link", .singleSignOn(isToken: false), [.post: tokens.link]),
            Route("/api/{serviceProvider}/unlink", .singleSignOn(isToken: false), body: .raw, [.post: tokens.unlink]),
            Route("/api/{serviceProvider}/list", .singleSignOn(isToken: false), [.get: tokens.list]),
        ]
    }
}
