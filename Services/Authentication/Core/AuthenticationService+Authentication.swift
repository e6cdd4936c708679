public import ContractRuntime
public import Contracts
internal import Faults

// Each operation throws `Fault` only; which codes, say the types that do the work.
extension AuthenticationService: Authentication {
    public func registerClient(_ request: RegisterClientRequest, context: CallContext) async throws -> RegisteredClient {
        try await callers.registration.register(request)
    }

    public func issueAccessToken(_ request: IssueAccessTokenRequest, context: CallContext) async throws -> AccessToken {
        try await callers.tokenIssue.issue(request)
    }

    public func verifyAccessToken(_ request: VerifyAccessTokenRequest, context: CallContext) async throws -> VerifiedClient {
        let scope = request.scope.isEmpty ? nil : request.scope
        return try await callers.bearers.client(request.credentials, requestor: request.requestor, scope: scope).contract
    }

    public func createRegistrationCode(_ request: CreateRegistrationCodeRequest, context: CallContext) async throws -> RegistrationCode {
        try await callers.codes.create(request, offers: bridge?.lists)
    }

    public func getRegistrationCode(_ request: RegistrationCodeRequest, context: CallContext) async throws -> RegistrationCode {
        try await callers.codes.show(request)
    }

    public func deleteRegistrationCode(
        _ request: RegistrationCodeRequest, context: CallContext
    ) async throws -> DeleteRegistrationCodeResponse {
        try await callers.codes.remove(request)
        return DeleteRegistrationCodeResponse()
    }

    public func startSignIn(_ request: StartSignInRequest, context: CallContext) async throws -> SignInStart {
        guard let bridge else { return try await signIns.starter.start(request) }
        return try await bridge.journeys.starting(trace: context.trace.traceID) { try await signIns.starter.start(request) }
    }

    public func completeSamlSignIn(_ request: CompleteSamlSignInRequest, context: CallContext) async throws -> SignInOutcome {
        try await signIns.samlFinisher.finish(request, trace: context.trace)
    }

    public func completeOAuthSignIn(_ request: CompleteOAuthSignInRequest, context: CallContext) async throws -> SignInOutcome {
        try await signIns.oauthFinisher.finish(request, trace: context.trace)
    }

    public func openTestSignIn(_ request: OpenTestSignInRequest, context: CallContext) async throws -> SignInStart {
        try await signIns.tests.open(request)
    }

    public func listBridgedProviders(_ request: ListBridgedProvidersRequest, context: CallContext) async throws -> BridgedProviders {
        guard let bridge else { throw Fault(.notFound, "The requestor has no upstream.") }
        return try await bridge.lists.providers(request)
    }

    public func returnFromBridge(_ request: ReturnFromBridgeRequest, context: CallContext) async throws -> SignInOutcome {
        guard let bridge else { return SignInOutcome(result: .rejected, traceID: context.trace.traceID) }
        return try await bridge.journeys.returning(trace: context.trace.traceID) {
            try await bridge.signIns.finish(request, trace: context.trace)
        }
    }

    public func getSession(_ request: SessionRequest, context: CallContext) async throws -> Session {
        let (record, catalogue) = try await sessions.lookup.session(anywhere: request.call)
        return record.contract(in: catalogue)
    }

    public func getOwnSessionByCode(_ request: SessionByCodeRequest, context: CallContext) async throws -> Session {
        let (record, catalogue) = try await sessions.lookup.session(ofMaker: request)
        return record.contract(in: catalogue)
    }

    public func getSessionByCode(_ request: SessionByCodeRequest, context: CallContext) async throws -> Session {
        let (record, catalogue) = try await sessions.lookup.session(byCode: request)
        return record.contract(in: catalogue)
    }

    public func issueStoredToken(_ request: SessionByCodeRequest, context: CallContext) async throws -> StoredAuthentication {
        let (record, catalogue) = try await sessions.lookup.session(toKeep: request)
        return StoredAuthentication(
            token: try sessions.stored.token(of: record), metadata: try await sessions.metadata.metadata(of: record, in: catalogue))
    }

    public func identifyDevice(_ request: IdentifyDeviceRequest, context: CallContext) async throws -> IdentifiedDevice {
        try await callers.devices.identify(request)
    }

    public func getStoredTokenKeys(_ request: GetStoredTokenKeysRequest, context: CallContext) async throws -> StoredTokenKeys {
        StoredTokenKeys(jwks: sessions.storedTokenKeys.keySet.json)
    }

    public func issueServiceToken(_ request: IssueServiceTokenRequest, context: CallContext) async throws -> ServiceToken {
        try await callers.serviceTokens.issue(request)
    }

    public func refreshServiceToken(_ request: RefreshServiceTokenRequest, context: CallContext) async throws -> ServiceToken {
        try await callers.serviceTokens.refresh(request)
    }

    public func createServiceLink(_ request: ServiceTokenCall, context: CallContext) async throws -> ServiceLink {
        try await callers.serviceTokens.link(request)
    }

    public func unlinkServiceDevices(_ request: UnlinkServiceDevicesRequest, context: CallContext) async throws -> UnlinkedServiceDevices {
        try await callers.serviceTokens.unlink(request)
    }

    public func listServiceDevices(_ request: ServiceTokenCall, context: CallContext) async throws -> ServiceDevices {
        try await callers.serviceTokens.list(request)
    }

    public func logout(_ request: LogoutRequest, context: CallContext) async throws -> LogoutResponse {
        let (ended, bridged, end) = try await sessions.logouts.end(request.call, leadingTo: request.hasBrowser ? request.redirectURL : nil)
        let visit = request.hasBrowser ? try await sessions.logouts.begin(for: ended, redirectURL: end) : ""
        let isLedElsewhere = visit.isEmpty && request.hasBrowser && OctetText(end) != OctetText(request.redirectURL)
        return LogoutResponse(ended: UInt32(clamping: ended.count + bridged), visitURL: isLedElsewhere ? end : visit)
    }

    public func beginSignIn(_ request: BeginSignInRequest, context: CallContext) async throws -> SignInPlan {
        try await sessions.plans.begin(request)
    }

    public func continueSignIn(_ request: ContinueSignInRequest, context: CallContext) async throws -> SignInPlan {
        try await sessions.plans.proceed(request)
    }

    public func beginPartnerSignIn(_ request: BeginSignInRequest, context: CallContext) async throws -> SignInPlan {
        try await signIns.partners.begin(request)
    }

    public func exchangePartnerProfile(_ request: ExchangePartnerProfileRequest, context: CallContext) async throws -> Profiles {
        try await signIns.partners.exchange(request, trace: context.trace)
    }

    public func findProfiles(_ request: FindProfilesRequest, context: CallContext) async throws -> Profiles {
        try await sessions.profiles.find(request)
    }

    public func findProfilesByCode(_ request: SessionByCodeRequest, context: CallContext) async throws -> Profiles {
        try await sessions.profiles.find(byCode: request)
    }

    public func endProfile(_ request: EndProfileRequest, context: CallContext) async throws -> EndedProfile {
        try await sessions.profileLogout.end(request)
    }

    public func visitLogout(_ request: VisitLogoutRequest, context: CallContext) async throws -> LogoutStep {
        try await sessions.logouts.visit(request.handle, trace: context.trace)
    }

    public func receiveSamlLogout(_ request: SamlLogoutMessage, context: CallContext) async throws -> LogoutStep {
        try await sessions.logouts.receive(request, trace: context.trace)
    }

    public func createProfileRequest(_ request: CreateProfileRequestRequest, context: CallContext) async throws -> ProfileRequest {
        try await signIns.profileRequests.create(request)
    }

    public func exchangePlatformProfile(_ request: ExchangePlatformProfileRequest, context: CallContext) async throws -> Session {
        let (record, catalogue) = try await signIns.exchanger.exchange(request, trace: context.trace)
        return record.contract(in: catalogue)
    }

    public func getUserMetadata(_ request: SessionRequest, context: CallContext) async throws -> UserMetadata {
        try await sessions.metadata.metadata(of: request.call)
    }

    public func getServiceProviderMetadata(
        _ request: ServiceProviderMetadataRequest, context: CallContext
    ) async throws -> ServiceProviderMetadata {
        if !request.requestor.isEmpty { _ = try catalogue.current().requireRequestor(request.requestor) }
        let requestor = request.requestor.isEmpty ? nil : RequestorID(request.requestor)
        return ServiceProviderMetadata(document: try await signIns.signedMetadata.document(requestor))
    }
}

extension AuthenticationService: Sessions {
    public func findSession(_ request: SessionRequest, context: CallContext) async throws -> SessionSubject {
        guard request.call?.api != .v2 else { return try await sessions.profiles.subject(request) }
        let (record, catalogue) = try await sessions.lookup.session(of: request.call, hidesDisabled: false)
        var subject = record.subjectContract(in: catalogue)
        if let token = request.call?.storedToken { try sessions.stored.complete(&subject, of: record, as: token) }
        return try await bridged(subject, record)
    }

    public func findSessionByCode(_ request: SessionByCodeRequest, context: CallContext) async throws -> SessionSubject {
        let (record, catalogue) = try await sessions.lookup.session(byCode: request)
        return try await bridged(record.subjectContract(in: catalogue), record)
    }

    public func getUpstreamToken(_ request: UpstreamTokenRequest, context: CallContext) async throws -> UpstreamToken {
        try await sessions.upstreamTokens.token(SessionID(request.upstreamSessionID))
    }

    public func askUpstream(_ request: AskUpstreamRequest, context: CallContext) async throws -> UpstreamDecisions {
        guard let bridge else { throw Fault(.notFound, "The device has no such session of an upstream.") }
        return try await bridge.decisions.ask(request)
    }

    /// With the upstream that decides about the session, if one does.
    private func bridged(_ subject: SessionSubject, _ record: SessionRecord) async throws(Fault) -> SessionSubject {
        guard let bridge, try catalogue.current().requestor(record.key.requestor.text)?.bridge != nil,
            let part = try await bridge.store.bridgedPart(record.id)
        else { return subject }
        var subject = subject
        subject.bridge = BridgedSession(
            upstream: part.upstream, serviceProvider: part.serviceProvider, mvpd: part.theirMvpd,
            needsIdentity: bridge.profiles.needsIdentity(part))
        return subject
    }

    public func updateAttributes(_ request: UpdateAttributesRequest, context: CallContext) async throws -> UpdateAttributesResponse {
        UpdateAttributesResponse(changed: try await sessions.metadata.update(request))
    }
}
