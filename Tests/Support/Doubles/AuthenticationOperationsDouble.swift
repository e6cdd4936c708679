public import ContractRuntime
public import Contracts

/// Stands in for what the authentication service does for operators; each operation answers as its script says.
public final class AuthenticationOperationsDouble: AuthenticationOperations {
    public let resetTempPass = Scripted<ResetTempPassRequest, ResetTempPassResponse>()
    public let revokeClient = Scripted<RevokeClientRequest, RevokeClientResponse>()
    public let putSecret = Scripted<PutSecretRequest, PutSecretResponse>()
    public let listSecrets = Scripted<ListSecretsRequest, SecretList>()
    public let getSignInReport = Scripted<GetSignInReportRequest, SignInReport>()
    public let listSignInReports = Scripted<ListSignInReportsRequest, SignInReports>()
    public let explainResponse = Scripted<ExplainResponseRequest, SignInReport>()
    public let beginTestSignIn = Scripted<BeginTestSignInRequest, TestSignIn>()
    public let listScheduledSignIns = Scripted<ListScheduledSignInsRequest, ScheduledSignIns>()
    public let findViewerSessions = Scripted<FindViewerSessionsRequest, ViewerSessions>()
    public let endViewerSessions = Scripted<EndViewerSessionsRequest, EndViewerSessionsResponse>()
    public let exportPerson = Scripted<ExportPersonRequest, PersonExport>()
    public let erasePerson = Scripted<ErasePersonRequest, PersonErasure>()
    public let checkUpstream = Scripted<CheckUpstreamRequest, UpstreamCheck>()
    public let readUpstreamList = Scripted<ReadUpstreamListRequest, UpstreamList>()
    public let listUpstreamStates = Scripted<ListUpstreamStatesRequest, UpstreamStates>()
    public let resetUpstreamClient = Scripted<ResetUpstreamClientRequest, ResetUpstreamClientResponse>()

    public init() {}

    public func resetTempPass(_ request: ResetTempPassRequest, context: CallContext) async throws -> ResetTempPassResponse {
        try await resetTempPass(request, context)
    }

    public func revokeClient(_ request: RevokeClientRequest, context: CallContext) async throws -> RevokeClientResponse {
        try await revokeClient(request, context)
    }

    public func putSecret(_ request: PutSecretRequest, context: CallContext) async throws -> PutSecretResponse {
        try await putSecret(request, context)
    }

    public func listSecrets(_ request: ListSecretsRequest, context: CallContext) async throws -> SecretList {
        try await listSecrets(request, context)
    }

    public func getSignInReport(_ request: GetSignInReportRequest, context: CallContext) async throws -> SignInReport {
        try await getSignInReport(request, context)
    }

    public func listSignInReports(_ request: ListSignInReportsRequest, context: CallContext) async throws -> SignInReports {
        try await listSignInReports(request, context)
    }

    public func explainResponse(_ request: ExplainResponseRequest, context: CallContext) async throws -> SignInReport {
        try await explainResponse(request, context)
    }

    public func beginTestSignIn(_ request: BeginTestSignInRequest, context: CallContext) async throws -> TestSignIn {
        try await beginTestSignIn(request, context)
    }

    public func listScheduledSignIns(_ request: ListScheduledSignInsRequest, context: CallContext) async throws -> ScheduledSignIns {
        try await listScheduledSignIns(request, context)
    }

    public func findViewerSessions(_ request: FindViewerSessionsRequest, context: CallContext) async throws -> ViewerSessions {
        try await findViewerSessions(request, context)
    }

    public func endViewerSessions(_ request: EndViewerSessionsRequest, context: CallContext) async throws -> EndViewerSessionsResponse {
        try await endViewerSessions(request, context)
    }

    public func exportPerson(_ request: ExportPersonRequest, context: CallContext) async throws -> PersonExport {
        try await exportPerson(request, context)
    }

    public func erasePerson(_ request: ErasePersonRequest, context: CallContext) async throws -> PersonErasure {
        try await erasePerson(request, context)
    }

    public func checkUpstream(_ request: CheckUpstreamRequest, context: CallContext) async throws -> UpstreamCheck {
        try await checkUpstream(request, context)
    }

    public func readUpstreamList(_ request: ReadUpstreamListRequest, context: CallContext) async throws -> UpstreamList {
        try await readUpstreamList(request, context)
    }

    public func listUpstreamStates(_ request: ListUpstreamStatesRequest, context: CallContext) async throws -> UpstreamStates {
        try await listUpstreamStates(request, context)
    }

    public func resetUpstreamClient(_ request: ResetUpstreamClientRequest, context: CallContext) async throws -> ResetUpstreamClientResponse {
        try await resetUpstreamClient(request, context)
    }
}
