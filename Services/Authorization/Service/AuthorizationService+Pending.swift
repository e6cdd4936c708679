public import ContractRuntime
public import Contracts
internal import Faults

extension AuthorizationService {
    public func preauthorize(_ request: PreauthorizeRequest, context: CallContext) async throws -> Preauthorization {
        throw Fault(.unimplemented, "Not built yet.")
    }

    public func preauthorizeByCode(_ request: PreauthorizeByCodeRequest, context: CallContext) async throws -> Preauthorization {
        throw Fault(.unimplemented, "Not built yet.")
    }
}
