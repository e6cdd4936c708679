public import ContractRuntime
public import Contracts

/// Stands in for what the authentication service does for operators; each operation answers as its script says.
public final class AuthenticationOperationsDouble: AuthenticationOperations {
    public let resetTempPass = Scripted<ResetTempPassRequest, ResetTempPassResponse>()
    public let revokeClient = Scripted<RevokeClientRequest, RevokeClientResponse>()

    public init() {}

    public func resetTempPass(_ request: ResetTempPassRequest, context: CallContext) async throws -> ResetTempPassResponse {
        try await resetTempPass(request, context)
    }

    public func revokeClient(_ request: RevokeClientRequest, context: CallContext) async throws -> RevokeClientResponse {
        try await revokeClient(request, context)
    }
}
