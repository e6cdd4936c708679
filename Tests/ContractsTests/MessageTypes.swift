import ContractRuntime
import Contracts

/// Every message of the contracts; `EveryMessageTests` compares the list with the descriptors.
enum MessageTypes {
    static let all: [any Message.Type] = [
        DeviceInformation.self, DeviceCall.self, RegisterClientRequest.self, RegisteredClient.self, IssueAccessTokenRequest.self, AccessToken.self,
        VerifyAccessTokenRequest.self, VerifiedClient.self, CreateRegistrationCodeRequest.self, RegistrationCodeRequest.self, RegistrationCode.self,
        DeleteRegistrationCodeResponse.self, StartSignInRequest.self, FormField.self, SignInStart.self, CompleteSamlSignInRequest.self,
        CompleteOAuthSignInRequest.self, UpstreamTokenRequest.self, UpstreamToken.self, OAuthClient.self,
        SignInOutcome.self, SessionRequest.self, SessionByCodeRequest.self, Session.self, SessionSubject.self, UserAttribute.self, LogoutRequest.self,
        LogoutResponse.self, VisitLogoutRequest.self, SamlLogoutMessage.self, LogoutStep.self, UserMetadata.self, MetadataEntry.self, TextList.self,
        TextMap.self, TextMapEntry.self, CreateProfileRequestRequest.self,
        ProfileRequest.self, ExchangePlatformProfileRequest.self, StartFreePreviewRequest.self, ResetTempPassRequest.self, ResetTempPassResponse.self,
        RevokeClientRequest.self, RevokeClientResponse.self, SignInCheck.self, SignInFact.self, SignInReport.self, GetSignInReportRequest.self,
        ListSignInReportsRequest.self, SignInReports.self, ExplainResponseRequest.self, SpendTempPassRequest.self, TempPassBalance.self,
        UpdateAttributesRequest.self,
        UpdateAttributesResponse.self, ServiceProviderMetadataRequest.self, ServiceProviderMetadata.self, AuthorizeRequest.self, ResourceRequest.self,
        Decision.self, MediaToken.self, ResourceList.self, PreauthorizeRequest.self, PreauthorizeByCodeRequest.self, Preauthorization.self,
        PreauthorizedResource.self, ResourceRefusal.self, GetMediaTokenKeysRequest.self, MediaTokenKeys.self, GetConfigurationRequest.self,
        WatchConfigurationRequest.self, IssueSoftwareStatementRequest.self, SoftwareStatement.self, Configuration.self, Programmer.self,
        Certificate.self, DegradationRule.self, PlatformIdentityIssuer.self, Requestor.self, Domain.self, Mvpd.self, PlatformOverride.self,
        PlatformSettings.self, SamlEndpoint.self, PlatformExchange.self, PlainLogout.self, AttributeMapping.self, OAuthEndpoint.self, TempPass.self,
        AuthorizationEndpoint.self, DecisionNames.self, DenialReason.self, Integration.self, MetadataKey.self, Application.self,
        GetAdministratorRequest.self, Administrator.self,
        CheckAdministratorRequest.self, CatalogueEntity.self, PageRequest.self, ListEntitiesRequest.self, EntityPage.self, GetEntityRequest.self,
        CreateEntityRequest.self, ReplaceEntityRequest.self, DeleteEntityRequest.self, GenerateCustomSchemeRequest.self, Refusal.self,
        FieldProblem.self, EntityReference.self, EntityOutcome.self, EntityChanged.self, CatalogueChange.self, ReviewProviderMetadataRequest.self,
        ProviderMetadata.self, ProviderEndpoint.self, ProviderCertificate.self, ImportProviderMetadataRequest.self, GetDraftRequest.self,
        CatalogueDraft.self, DiscardDraftRequest.self, DropChangeRequest.self, DraftOutcome.self, PushDraftRequest.self, PushOutcome.self,
        PendingPush.self, ListPendingPushesRequest.self, PendingPushes.self, DecidePushRequest.self, CatalogueVersion.self, ListVersionsRequest.self,
        VersionPage.self, GetVersionRequest.self, VersionSnapshot.self, CompareVersionsRequest.self, VersionComparison.self,
        RestoreVersionRequest.self, DownloadSoftwareStatementRequest.self, RevokeSoftwareStatementsRequest.self,
        RevokeSoftwareStatementsResponse.self, ListDegradationRulesRequest.self, DegradationRules.self, ActiveDegradation.self,
        StartDegradationRequest.self, DegradationOutcome.self, RenewDegradationRequest.self, EndDegradationRequest.self, EndDegradationResponse.self,
        GetReportRequest.self, CatalogueReport.self, ReportRow.self, ListAuditRecordsRequest.self, AuditPage.self, AuditRecord.self,
        VerifyHistoryRequest.self, HistoryVerdict.self, CheckHealthRequest.self, HealthReport.self, ListServicesRequest.self,
        ListServicesResponse.self, GetDescriptorSetRequest.self, GetDescriptorSetResponse.self, EchoMessage.self,
    ]
}
