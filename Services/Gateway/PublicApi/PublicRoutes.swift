internal import Hummingbird

/// REST v2 (rest-v2, clients §4): names, formats and errors of its own over the operations that v1 has.
extension RouteTable {
    static func v2(_ dependencies: Dependencies) -> [Route] {
        let reader = AppCallReader(authentication: dependencies.authentication, catalogue: dependencies.catalogue, api: .v2)
        let configuration = ConfigurationEndpoint(reader: reader, catalogue: dependencies.catalogue)
        let refusals = Refusals(settings: dependencies.settings, pages: dependencies.pages, catalogue: dependencies.catalogue)
        let sessions = SessionEndpointsV2(dependencies: dependencies, reader: reader, signIn: SignInEndpoints(dependencies: dependencies))
        let profiles = ProfileEndpoints(dependencies: dependencies, reader: reader, refusals: refusals)
        let decisions = DecisionEndpoints(dependencies: dependencies, reader: reader, refusals: refusals, pressure: Backpressure())
        var partnerReader = reader
        partnerReader.takesServiceToken = false
        let partners = PartnerEndpoints(dependencies: dependencies, reader: partnerReader, refusals: refusals)
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
}
