internal import Hummingbird

/// REST v2 (rest-v2, clients §4): names, formats and errors of its own over the operations that v1 has.
extension RouteTable {
    static func v2(_ dependencies: Dependencies) -> [Route] {
        let reader = AppCallReader(authentication: dependencies.authentication, catalogue: dependencies.catalogue, api: .v2)
        let configuration = ConfigurationEndpoint(reader: reader, catalogue: dependencies.catalogue)
        return [
            Route("/api/v2/{serviceProvider}/configuration", .apiV2, [.get: configuration.show])
        ]
    }
}
