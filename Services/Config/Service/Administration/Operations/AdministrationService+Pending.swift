public import ContractRuntime
public import Contracts
internal import Faults

extension AdministrationService {
    public func reviewProviderMetadata(
        _ request: ReviewProviderMetadataRequest, context: CallContext
    ) async throws -> ProviderMetadata {
        throw Fault(.unimplemented, "Not offered yet.")
    }

    public func importProviderMetadata(_ request: ImportProviderMetadataRequest, context: CallContext) async throws -> EntityOutcome {
        throw Fault(.unimplemented, "Not offered yet.")
    }
}
