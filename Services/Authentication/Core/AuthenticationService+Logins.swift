public import ContractRuntime
public import Contracts

// Each operation throws `Fault` only; which codes, say the types that do the work.
extension AuthenticationService: Logins {
    public func identifyCaller(_ request: IdentifyCallerRequest, context: CallContext) async throws -> IdentifiedCaller {
        try await sessions.identification.identify(request)
    }

    public func startAutomaticSession(_ request: StartAutomaticSessionRequest, context: CallContext) async throws -> AutomaticSession {
        try await sessions.automatic.start(request)
    }

    public func findLiveLogins(_ request: FindLiveLoginsRequest, context: CallContext) async throws -> LiveLogins {
        try await sessions.automatic.liveLogins(request)
    }

    public func endAutomaticSessions(_ request: EndAutomaticSessionsRequest, context: CallContext) async throws -> EndAutomaticSessionsResponse {
        EndAutomaticSessionsResponse(ended: try await sessions.automatic.end(request))
    }
}
