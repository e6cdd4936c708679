public import ContractRuntime
public import Contracts

/// Stands in for the authentication service; each operation answers as its script says.
public final class AuthenticationDouble: Authentication {
    public let registerClient = Scripted<RegisterClientRequest, RegisteredClient>()
    public let issueAccessToken = Scripted<IssueAccessTokenRequest, AccessToken>()
    public let verifyAccessToken = Scripted<VerifyAccessTokenRequest, VerifiedClient>()
    public let createRegistrationCode = Scripted<CreateRegistrationCodeRequest, RegistrationCode>()
    public let getRegistrationCode = Scripted<RegistrationCodeRequest, RegistrationCode>()
    public let deleteRegistrationCode = Scripted<RegistrationCodeRequest, DeleteRegistrationCodeResponse>()
    public let startSignIn = Scripted<StartSignInRequest, SignInStart>()
    public let completeSamlSignIn = Scripted<CompleteSamlSignInRequest, SignInOutcome>()
    public let completeOAuthSignIn = Scripted<CompleteOAuthSignInRequest, SignInOutcome>()
    public let getSession = Scripted<SessionRequest, Session>()
    public let getSessionByCode = Scripted<SessionByCodeRequest, Session>()
    public let getOwnSessionByCode = Scripted<SessionByCodeRequest, Session>()
    public let issueStoredToken = Scripted<SessionByCodeRequest, StoredAuthentication>()
    public let identifyDevice = Scripted<IdentifyDeviceRequest, IdentifiedDevice>()
    public let getStoredTokenKeys = Scripted<GetStoredTokenKeysRequest, StoredTokenKeys>()
    public let logout = Scripted<LogoutRequest, LogoutResponse>()
    public let visitLogout = Scripted<VisitLogoutRequest, LogoutStep>()
    public let receiveSamlLogout = Scripted<SamlLogoutMessage, LogoutStep>()
    public let getServiceProviderMetadata = Scripted<ServiceProviderMetadataRequest, ServiceProviderMetadata>()
    public let getUserMetadata = Scripted<SessionRequest, UserMetadata>()
    public let createProfileRequest = Scripted<CreateProfileRequestRequest, ProfileRequest>()
    public let exchangePlatformProfile = Scripted<ExchangePlatformProfileRequest, Session>()
    public let startFreePreview = Scripted<StartFreePreviewRequest, Session>()
    public let resetTempPass = Scripted<ResetTempPassRequest, ResetTempPassResponse>()
    public let beginSignIn = Scripted<BeginSignInRequest, SignInPlan>()
    public let continueSignIn = Scripted<ContinueSignInRequest, SignInPlan>()
    public let findProfiles = Scripted<FindProfilesRequest, Profiles>()
    public let findProfilesByCode = Scripted<SessionByCodeRequest, Profiles>()
    public let endProfile = Scripted<EndProfileRequest, EndedProfile>()

    public let beginPartnerSignIn = Scripted<BeginSignInRequest, SignInPlan>()
    public let exchangePartnerProfile = Scripted<ExchangePartnerProfileRequest, Profiles>()

    public let issueServiceToken = Scripted<IssueServiceTokenRequest, ServiceToken>()
    public let refreshServiceToken = Scripted<RefreshServiceTokenRequest, ServiceToken>()
    public let createServiceLink = Scripted<ServiceTokenCall, ServiceLink>()
    public let unlinkServiceDevices = Scripted<UnlinkServiceDevicesRequest, UnlinkedServiceDevices>()
    public let listServiceDevices = Scripted<ServiceTokenCall, ServiceDevices>()

    public let openTestSignIn = Scripted<OpenTestSignInRequest, SignInStart>()
    public let listBridgedProviders = Scripted<ListBridgedProvidersRequest, BridgedProviders>()
    public let returnFromBridge = Scripted<ReturnFromBridgeRequest, SignInOutcome>()

    public init() {}

    public func openTestSignIn(_ request: OpenTestSignInRequest, context: CallContext) async throws -> SignInStart {
        try await openTestSignIn(request, context)
    }

    public func listBridgedProviders(_ request: ListBridgedProvidersRequest, context: CallContext) async throws -> BridgedProviders {
        try await listBridgedProviders(request, context)
    }

    public func returnFromBridge(_ request: ReturnFromBridgeRequest, context: CallContext) async throws -> SignInOutcome {
        try await returnFromBridge(request, context)
    }

    public func issueServiceToken(_ request: IssueServiceTokenRequest, context: CallContext) async throws -> ServiceToken {
        try await issueServiceToken(request, context)
    }

    public func refreshServiceToken(_ request: RefreshServiceTokenRequest, context: CallContext) async throws -> ServiceToken {
        try await refreshServiceToken(request, context)
    }

    public func createServiceLink(_ request: ServiceTokenCall, context: CallContext) async throws -> ServiceLink {
        try await createServiceLink(request, context)
    }

    public func unlinkServiceDevices(_ request: UnlinkServiceDevicesRequest, context: CallContext) async throws -> UnlinkedServiceDevices {
        try await unlinkServiceDevices(request, context)
    }

    public func listServiceDevices(_ request: ServiceTokenCall, context: CallContext) async throws -> ServiceDevices {
        try await listServiceDevices(request, context)
    }

    public func beginPartnerSignIn(_ request: BeginSignInRequest, context: CallContext) async throws -> SignInPlan {
        try await beginPartnerSignIn(request, context)
    }

    public func exchangePartnerProfile(_ request: ExchangePartnerProfileRequest, context: CallContext) async throws -> Profiles {
        try await exchangePartnerProfile(request, context)
    }

    public func beginSignIn(_ request: BeginSignInRequest, context: CallContext) async throws -> SignInPlan {
        try await beginSignIn(request, context)
    }

    public func continueSignIn(_ request: ContinueSignInRequest, context: CallContext) async throws -> SignInPlan {
        try await continueSignIn(request, context)
    }

    public func findProfiles(_ request: FindProfilesRequest, context: CallContext) async throws -> Profiles {
        try await findProfiles(request, context)
    }

    public func findProfilesByCode(_ request: SessionByCodeRequest, context: CallContext) async throws -> Profiles {
        try await findProfilesByCode(request, context)
    }

    public func endProfile(_ request: EndProfileRequest, context: CallContext) async throws -> EndedProfile {
        try await endProfile(request, context)
    }

    public func registerClient(_ request: RegisterClientRequest, context: CallContext) async throws -> RegisteredClient {
        try await registerClient(request, context)
    }

    public func issueAccessToken(_ request: IssueAccessTokenRequest, context: CallContext) async throws -> AccessToken {
        try await issueAccessToken(request, context)
    }

    public func verifyAccessToken(_ request: VerifyAccessTokenRequest, context: CallContext) async throws -> VerifiedClient {
        try await verifyAccessToken(request, context)
    }

    public func createRegistrationCode(_ request: CreateRegistrationCodeRequest, context: CallContext) async throws -> RegistrationCode {
        try await createRegistrationCode(request, context)
    }

    public func getRegistrationCode(_ request: RegistrationCodeRequest, context: CallContext) async throws -> RegistrationCode {
        try await getRegistrationCode(request, context)
    }

    public func deleteRegistrationCode(
        _ request: RegistrationCodeRequest, context: CallContext
    ) async throws -> DeleteRegistrationCodeResponse {
        try await deleteRegistrationCode(request, context)
    }

    public func startSignIn(_ request: StartSignInRequest, context: CallContext) async throws -> SignInStart {
        try await startSignIn(request, context)
    }

    public func completeSamlSignIn(_ request: CompleteSamlSignInRequest, context: CallContext) async throws -> SignInOutcome {
        try await completeSamlSignIn(request, context)
    }

    public func completeOAuthSignIn(_ request: CompleteOAuthSignInRequest, context: CallContext) async throws -> SignInOutcome {
        try await completeOAuthSignIn(request, context)
    }

    public func getSession(_ request: SessionRequest, context: CallContext) async throws -> Session {
        try await getSession(request, context)
    }

    public func getSessionByCode(_ request: SessionByCodeRequest, context: CallContext) async throws -> Session {
        try await getSessionByCode(request, context)
    }

    public func getOwnSessionByCode(_ request: SessionByCodeRequest, context: CallContext) async throws -> Session {
        try await getOwnSessionByCode(request, context)
    }

    public func issueStoredToken(_ request: SessionByCodeRequest, context: CallContext) async throws -> StoredAuthentication {
        try await issueStoredToken(request, context)
    }

    public func identifyDevice(_ request: IdentifyDeviceRequest, context: CallContext) async throws -> IdentifiedDevice {
        try await identifyDevice(request, context)
    }

    public func getStoredTokenKeys(_ request: GetStoredTokenKeysRequest, context: CallContext) async throws -> StoredTokenKeys {
        try await getStoredTokenKeys(request, context)
    }

    public func logout(_ request: LogoutRequest, context: CallContext) async throws -> LogoutResponse {
        try await logout(request, context)
    }

    public func visitLogout(_ request: VisitLogoutRequest, context: CallContext) async throws -> LogoutStep {
        try await visitLogout(request, context)
    }

    public func receiveSamlLogout(_ request: SamlLogoutMessage, context: CallContext) async throws -> LogoutStep {
        try await receiveSamlLogout(request, context)
    }

    public func getServiceProviderMetadata(
        _ request: ServiceProviderMetadataRequest, context: CallContext
    ) async throws -> ServiceProviderMetadata {
        try await getServiceProviderMetadata(request, context)
    }

    public func getUserMetadata(_ request: SessionRequest, context: CallContext) async throws -> UserMetadata {
        try await getUserMetadata(request, context)
    }

    public func createProfileRequest(_ request: CreateProfileRequestRequest, context: CallContext) async throws -> ProfileRequest {
        try await createProfileRequest(request, context)
    }

    public func exchangePlatformProfile(_ request: ExchangePlatformProfileRequest, context: CallContext) async throws -> Session {
        try await exchangePlatformProfile(request, context)
    }

    public func startFreePreview(_ request: StartFreePreviewRequest, context: CallContext) async throws -> Session {
        try await startFreePreview(request, context)
    }

    public func resetTempPass(_ request: ResetTempPassRequest, context: CallContext) async throws -> ResetTempPassResponse {
        try await resetTempPass(request, context)
    }
}
