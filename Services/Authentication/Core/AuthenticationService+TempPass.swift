public import ContractRuntime
public import Contracts
internal import Faults

// Free preview: one operation each for the gateway, for an application's back office and for authorization.
extension AuthenticationService {
    public func startFreePreview(_ request: StartFreePreviewRequest, context: CallContext) async throws -> Session {
        let (record, catalogue) = try await trials.previews.start(request)
        return record.contract(in: catalogue)
    }

    public func resetTempPass(_ request: ResetTempPassRequest, context: CallContext) async throws -> ResetTempPassResponse {
        ResetTempPassResponse(trials: UInt32(clamping: try await trials.resets.reset(byBearer: request)))
    }

    public func spendTempPass(_ request: SpendTempPassRequest, context: CallContext) async throws -> TempPassBalance {
        try await trials.plays.spend(request)
    }
}
