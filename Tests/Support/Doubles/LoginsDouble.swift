public import ContractRuntime
public import Contracts

/// Stands in for the `Logins` of the authentication service.
public final class LoginsDouble: Logins {
    public let identifyCaller = Scripted<IdentifyCallerRequest, IdentifiedCaller>()
    public let startAutomaticSession = Scripted<StartAutomaticSessionRequest, AutomaticSession>()
    public let findLiveLogins = Scripted<FindLiveLoginsRequest, LiveLogins>()
    public let endAutomaticSessions = Scripted<EndAutomaticSessionsRequest, EndAutomaticSessionsResponse>()

    public init() {}

    public func identifyCaller(_ request: IdentifyCallerRequest, context: CallContext) async throws -> IdentifiedCaller {
        try await identifyCaller(request, context)
    }

    public func startAutomaticSession(_ request: StartAutomaticSessionRequest, context: CallContext) async throws -> AutomaticSession {
        try await startAutomaticSession(request, context)
    }

    public func findLiveLogins(_ request: FindLiveLoginsRequest, context: CallContext) async throws -> LiveLogins {
        try await findLiveLogins(request, context)
    }

    public func endAutomaticSessions(_ request: EndAutomaticSessionsRequest, context: CallContext) async throws -> EndAutomaticSessionsResponse {
        try await endAutomaticSessions(request, context)
    }
}
