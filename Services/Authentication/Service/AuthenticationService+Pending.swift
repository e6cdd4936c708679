public import ContractRuntime
public import Contracts
internal import Faults

extension AuthenticationService {
    public func getUserMetadata(_ request: SessionRequest, context: CallContext) async throws -> UserMetadata {
        throw Fault(.unimplemented, "Not built yet.")
    }

    public func createProfileRequest(_ request: CreateProfileRequestRequest, context: CallContext) async throws -> ProfileRequest {
        throw Fault(.unimplemented, "Not built yet.")
    }

    public func exchangePlatformProfile(_ request: ExchangePlatformProfileRequest, context: CallContext) async throws -> Session {
        throw Fault(.unimplemented, "Not built yet.")
    }

    public func updateAttributes(_ request: UpdateAttributesRequest, context: CallContext) async throws -> UpdateAttributesResponse {
        throw Fault(.unimplemented, "Not built yet.")
    }
}
