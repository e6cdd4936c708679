public import ContractRuntime
public import Contracts
internal import Faults

extension AuthenticationService {
    public func getUserMetadata(_ request: SessionRequest, context: CallContext) async throws -> UserMetadata {
        throw Fault(.unimplemented, "Not built yet.")
    }

    public func updateAttributes(_ request: UpdateAttributesRequest, context: CallContext) async throws -> UpdateAttributesResponse {
        throw Fault(.unimplemented, "Not built yet.")
    }
}
