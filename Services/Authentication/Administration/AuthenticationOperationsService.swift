public import ContractRuntime
public import Contracts
internal import Faults

/// What an operator does to clients, trials and sessions; whoever calls has checked the person.
public struct AuthenticationOperationsService: AuthenticationOperations {
    private let service: AuthenticationService

    public init(_ service: AuthenticationService) { self.service = service }

    /// - Throws: As `TempPassReset.reset(byOperator:)`.
    public func resetTempPass(_ request: ResetTempPassRequest, context: CallContext) async throws -> ResetTempPassResponse {
        ResetTempPassResponse(trials: UInt32(clamping: try await service.trials.resets.reset(byOperator: request)))
    }

    /// - Throws: `invalid_request` without a client id.
    public func revokeClient(_ request: RevokeClientRequest, context: CallContext) async throws -> RevokeClientResponse {
        guard !request.clientID.isEmpty else { throw Fault(.invalidRequest, "Required 'client_id' is not present") }
        return RevokeClientResponse(wasKnown: try await service.callers.revocation.revoke(ClientID(request.clientID)))
    }

    /// - Throws: As `KeptSecrets.put`.
    public func putSecret(_ request: PutSecretRequest, context: CallContext) async throws -> PutSecretResponse {
        let secret = ProviderSecret(request.secret)
        return PutSecretResponse(
            replaced: try await service.callers.secrets.put(SecretReference(request.reference), secret, owner: request.programmerID))
    }

    public func listSecrets(_ request: ListSecretsRequest, context: CallContext) async throws -> SecretList {
        let secrets = try await service.callers.secrets.list()
        return SecretList(
            secrets: secrets.map { secret in
                StoredSecret(
                    reference: secret.reference, programmerID: secret.owner, isFile: secret.isFile,
                    writtenAtMilliseconds: UInt64(clamping: secret.writtenAt?.milliseconds ?? 0))
            })
    }

    /// - Throws: `not_found`.
    public func getSignInReport(_ request: GetSignInReportRequest, context: CallContext) async throws -> SignInReport {
        if let report = service.bridge?.journeys.report(trace: request.traceID.lowercased()) { return report }
        return try await service.signIns.reports.report(request)
    }

    public func listSignInReports(_ request: ListSignInReportsRequest, context: CallContext) async throws -> Contracts.SignInReports {
        try await service.signIns.reports.list(request)
    }

    /// - Throws: As `TestSignIns.begin`.
    public func beginTestSignIn(_ request: BeginTestSignInRequest, context: CallContext) async throws -> TestSignIn {
        try await service.signIns.tests.begin(request)
    }

    /// - Throws: Faults of the store.
    public func listScheduledSignIns(_ request: ListScheduledSignInsRequest, context: CallContext) async throws -> Contracts.ScheduledSignIns {
        try await service.signIns.scheduled.list()
    }

    /// - Throws: As `ResponseExplainer.explain`.
    public func explainResponse(_ request: ExplainResponseRequest, context: CallContext) async throws -> SignInReport {
        try await offEventLoop { [explainer = service.signIns.explainer] () throws(Fault) in try explainer.explain(request) }
    }

    /// - Throws: As `ViewerSupport.find`.
    public func findViewerSessions(_ request: FindViewerSessionsRequest, context: CallContext) async throws -> ViewerSessions {
        try await service.sessions.support.find(request)
    }

    /// - Throws: As `ViewerSupport.end`.
    public func endViewerSessions(_ request: EndViewerSessionsRequest, context: CallContext) async throws -> EndViewerSessionsResponse {
        EndViewerSessionsResponse(ended: UInt32(clamping: try await service.sessions.support.end(request)))
    }

    /// - Throws: As `PersonDesk.export`.
    public func exportPerson(_ request: ExportPersonRequest, context: CallContext) async throws -> PersonExport {
        try await service.sessions.people.export(request.selector)
    }

    /// - Throws: As `PersonDesk.erase`.
    public func erasePerson(_ request: ErasePersonRequest, context: CallContext) async throws -> PersonErasure {
        try await service.sessions.people.erase(request.selector)
    }

    /// - Throws: As `UpstreamCheckers.check`.
    public func checkUpstream(_ request: CheckUpstreamRequest, context: CallContext) async throws -> UpstreamCheck {
        try await bridge().checkers.check(request)
    }

    /// - Throws: As `UpstreamOffice.list`.
    public func readUpstreamList(_ request: ReadUpstreamListRequest, context: CallContext) async throws -> UpstreamList {
        try await bridge().office.list(request)
    }

    /// - Throws: As `UpstreamOffice.states`.
    public func listUpstreamStates(_ request: ListUpstreamStatesRequest, context: CallContext) async throws -> UpstreamStates {
        try await bridge().office.states(request)
    }

    /// - Throws: As `UpstreamOffice.reset`.
    public func resetUpstreamClient(_ request: ResetUpstreamClientRequest, context: CallContext) async throws -> ResetUpstreamClientResponse {
        try await bridge().office.reset(request)
    }

    private func bridge() throws(Fault) -> AuthenticationService.Bridge {
        guard let bridge = service.bridge else { throw Fault(.unimplemented, "No upstream is used here.") }
        return bridge
    }
}
