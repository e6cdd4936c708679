public import ContractRuntime
public import Contracts
internal import Faults

extension AuthenticationService {
    public func visitLogout(_ request: VisitLogoutRequest, context: CallContext) async throws -> LogoutStep {
        throw Fault(.unimplemented, "Not offered yet.")
    }

    public func receiveSamlLogout(_ request: SamlLogoutMessage, context: CallContext) async throws -> LogoutStep {
        throw Fault(.unimplemented, "Not offered yet.")
    }
}
