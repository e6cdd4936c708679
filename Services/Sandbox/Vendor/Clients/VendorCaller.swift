/// Who calls, and for which device, after the checks of rest-v2 §1.5.
struct UpstreamCaller: Sendable {
    let client: ClientRegistry.Client
    let serviceProvider: UpstreamCatalogue.ServiceProvider

    /// Bearer token, service provider, and that they fit.
    /// - Throws: `invalid_access_token_…`, `invalid_parameter_service_provider`; a plain 403 where tests want that for clients that are gone.
    init(_ call: UpstreamCall, _ state: UpstreamState) throws {
        client = try Self.client(call, state, scope: SoftwareStatement.apiScope)
        guard let serviceProvider = state.catalogue.serviceProvider(call.parameter("sp")) else {
            throw UpstreamRefusal(.invalidServiceProvider)
        }
        guard state.registry.statement(id: client.statement)?.covers(serviceProvider.id) == true else {
            throw UpstreamRefusal(.tokenOfOtherServiceProvider)
        }
        self.serviceProvider = serviceProvider
    }

    /// - Throws: `invalid_access_token_client_application` unless a living token with the scope came along.
    static func client(_ call: UpstreamCall, _ state: UpstreamState, scope: String) throws -> ClientRegistry.Client {
        guard let token = call.bearer.flatMap(state.registry.token), call.now < token.end else { throw UpstreamRefusal(.tokenInvalid) }
        guard let client = state.registry.client(token.client) else {
            if state.behaviour.goneClientStatus == 403 { throw GoneClient() }
            throw UpstreamRefusal(.tokenInvalid)
        }
        guard token.scopes.contains(where: { $0 == scope }) else { throw UpstreamRefusal(.tokenInvalid) }
        return client
    }
}

/// The client of a token is gone, and the answer is that of rest-v1 §2.2.
struct GoneClient: Error {
    func answer() throws -> UpstreamAnswer { try .json(["error": "invalid_client"], status: 403, outcome: "invalid_client") }
}
