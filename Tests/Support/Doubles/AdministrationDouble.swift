public import ContractRuntime
public import Contracts

/// Stands in for the administration of the config service; each operation answers as the test tells it to.
public final class AdministrationDouble: Administration {
    public let getAdministrator = Scripted<GetAdministratorRequest, Administrator>()
    public let checkAdministrator = Scripted<CheckAdministratorRequest, Administrator>()
    public let openSession = Scripted<OpenSessionRequest, OpenedSession>()
    public let endSession = Scripted<EndSessionRequest, EndSessionResponse>()
    public let listSessions = Scripted<ListSessionsRequest, AdministratorSessions>()
    public let listEntities = Scripted<ListEntitiesRequest, EntityPage>()
    public let getEntity = Scripted<GetEntityRequest, CatalogueEntity>()
    public let createEntity = Scripted<CreateEntityRequest, EntityOutcome>()
    public let replaceEntity = Scripted<ReplaceEntityRequest, EntityOutcome>()
    public let deleteEntity = Scripted<DeleteEntityRequest, EntityOutcome>()
    public let generateCustomScheme = Scripted<GenerateCustomSchemeRequest, EntityOutcome>()
    public let reviewProviderMetadata = Scripted<ReviewProviderMetadataRequest, ProviderMetadata>()
    public let importProviderMetadata = Scripted<ImportProviderMetadataRequest, EntityOutcome>()
    public let getDraft = Scripted<GetDraftRequest, CatalogueDraft>()
    public let discardDraft = Scripted<DiscardDraftRequest, CatalogueDraft>()
    public let dropChange = Scripted<DropChangeRequest, DraftOutcome>()
    public let pushDraft = Scripted<PushDraftRequest, PushOutcome>()
    public let listPendingPushes = Scripted<ListPendingPushesRequest, PendingPushes>()
    public let decidePush = Scripted<DecidePushRequest, PushOutcome>()
    public let listVersions = Scripted<ListVersionsRequest, VersionPage>()
    public let getVersion = Scripted<GetVersionRequest, VersionSnapshot>()
    public let compareVersions = Scripted<CompareVersionsRequest, VersionComparison>()
    public let importCatalogue = Scripted<ImportCatalogueRequest, CatalogueImport>()
    public let restoreVersion = Scripted<RestoreVersionRequest, DraftOutcome>()
    public let prepareTestSignIn = Scripted<PrepareTestSignInRequest, TestSignInPreparation>()
    public let authorizeSecret = Scripted<AuthorizeSecretRequest, SecretOutcome>()
    public let listSecretOwners = Scripted<ListSecretOwnersRequest, SecretOwners>()
    public let setSecretOwner = Scripted<SetSecretOwnerRequest, SecretOwners>()
    public let downloadSoftwareStatement = Scripted<DownloadSoftwareStatementRequest, SoftwareStatement>()
    public let revokeSoftwareStatements = Scripted<RevokeSoftwareStatementsRequest, RevokeSoftwareStatementsResponse>()
    public let listStatementKeys = Scripted<ListStatementKeysRequest, StatementKeyList>()
    public let retireStatementKey = Scripted<RetireStatementKeyRequest, StatementKeyList>()
    public let listDegradationRules = Scripted<ListDegradationRulesRequest, DegradationRules>()
    public let startDegradation = Scripted<StartDegradationRequest, DegradationOutcome>()
    public let renewDegradation = Scripted<RenewDegradationRequest, DegradationOutcome>()
    public let endDegradation = Scripted<EndDegradationRequest, EndDegradationResponse>()
    public let listDegradationMeasures = Scripted<ListDegradationMeasuresRequest, DegradationRules>()
    public let applyDegradationMeasure = Scripted<ApplyDegradationMeasureRequest, DegradationOutcome>()
    public let removeDegradationMeasures = Scripted<RemoveDegradationMeasuresRequest, DegradationRules>()
    public let promoteCatalogue = Scripted<PromoteCatalogueRequest, DraftOutcome>()
    public let listProxiedMvpds = Scripted<ListProxiedMvpdsRequest, ProxiedMvpds>()
    public let replaceProxiedMvpds = Scripted<ReplaceProxiedMvpdsRequest, ProxiedMvpdsOutcome>()
    public let getReport = Scripted<GetReportRequest, CatalogueReport>()
    public let listAuditRecords = Scripted<ListAuditRecordsRequest, AuditPage>()
    public let verifyHistory = Scripted<VerifyHistoryRequest, HistoryVerdict>()

    public init() {}

    public func getAdministrator(_ request: GetAdministratorRequest, context: CallContext) async throws -> Administrator {
        try await getAdministrator(request, context)
    }

    public func checkAdministrator(_ request: CheckAdministratorRequest, context: CallContext) async throws -> Administrator {
        try await checkAdministrator(request, context)
    }

    public func openSession(_ request: OpenSessionRequest, context: CallContext) async throws -> OpenedSession {
        try await openSession(request, context)
    }

    public func endSession(_ request: EndSessionRequest, context: CallContext) async throws -> EndSessionResponse {
        try await endSession(request, context)
    }

    public func listSessions(_ request: ListSessionsRequest, context: CallContext) async throws -> AdministratorSessions {
        try await listSessions(request, context)
    }

    public func listEntities(_ request: ListEntitiesRequest, context: CallContext) async throws -> EntityPage {
        try await listEntities(request, context)
    }

    public func getEntity(_ request: GetEntityRequest, context: CallContext) async throws -> CatalogueEntity {
        try await getEntity(request, context)
    }

    public func createEntity(_ request: CreateEntityRequest, context: CallContext) async throws -> EntityOutcome {
        try await createEntity(request, context)
    }

    public func replaceEntity(_ request: ReplaceEntityRequest, context: CallContext) async throws -> EntityOutcome {
        try await replaceEntity(request, context)
    }

    public func deleteEntity(_ request: DeleteEntityRequest, context: CallContext) async throws -> EntityOutcome {
        try await deleteEntity(request, context)
    }

    public func generateCustomScheme(_ request: GenerateCustomSchemeRequest, context: CallContext) async throws -> EntityOutcome {
        try await generateCustomScheme(request, context)
    }

    public func reviewProviderMetadata(
        _ request: ReviewProviderMetadataRequest, context: CallContext
    ) async throws -> ProviderMetadata {
        try await reviewProviderMetadata(request, context)
    }

    public func importProviderMetadata(_ request: ImportProviderMetadataRequest, context: CallContext) async throws -> EntityOutcome {
        try await importProviderMetadata(request, context)
    }

    public func getDraft(_ request: GetDraftRequest, context: CallContext) async throws -> CatalogueDraft {
        try await getDraft(request, context)
    }

    public func discardDraft(_ request: DiscardDraftRequest, context: CallContext) async throws -> CatalogueDraft {
        try await discardDraft(request, context)
    }

    public func dropChange(_ request: DropChangeRequest, context: CallContext) async throws -> DraftOutcome {
        try await dropChange(request, context)
    }

    public func pushDraft(_ request: PushDraftRequest, context: CallContext) async throws -> PushOutcome {
        try await pushDraft(request, context)
    }

    public func listPendingPushes(_ request: ListPendingPushesRequest, context: CallContext) async throws -> PendingPushes {
        try await listPendingPushes(request, context)
    }

    public func decidePush(_ request: DecidePushRequest, context: CallContext) async throws -> PushOutcome {
        try await decidePush(request, context)
    }

    public func listVersions(_ request: ListVersionsRequest, context: CallContext) async throws -> VersionPage {
        try await listVersions(request, context)
    }

    public func getVersion(_ request: GetVersionRequest, context: CallContext) async throws -> VersionSnapshot {
        try await getVersion(request, context)
    }

    public func compareVersions(_ request: CompareVersionsRequest, context: CallContext) async throws -> VersionComparison {
        try await compareVersions(request, context)
    }

    public func importCatalogue(_ request: ImportCatalogueRequest, context: CallContext) async throws -> CatalogueImport {
        try await importCatalogue(request, context)
    }

    public func restoreVersion(_ request: RestoreVersionRequest, context: CallContext) async throws -> DraftOutcome {
        try await restoreVersion(request, context)
    }

    public func prepareTestSignIn(_ request: PrepareTestSignInRequest, context: CallContext) async throws -> TestSignInPreparation {
        try await prepareTestSignIn(request, context)
    }

    public func authorizeSecret(_ request: AuthorizeSecretRequest, context: CallContext) async throws -> SecretOutcome {
        try await authorizeSecret(request, context)
    }

    public func listSecretOwners(_ request: ListSecretOwnersRequest, context: CallContext) async throws -> SecretOwners {
        try await listSecretOwners(request, context)
    }

    public func setSecretOwner(_ request: SetSecretOwnerRequest, context: CallContext) async throws -> SecretOwners {
        try await setSecretOwner(request, context)
    }

    public func downloadSoftwareStatement(_ request: DownloadSoftwareStatementRequest, context: CallContext) async throws -> SoftwareStatement {
        try await downloadSoftwareStatement(request, context)
    }

    public func revokeSoftwareStatements(_ request: RevokeSoftwareStatementsRequest, context: CallContext) async throws
        -> RevokeSoftwareStatementsResponse
    {
        try await revokeSoftwareStatements(request, context)
    }

    public func listStatementKeys(_ request: ListStatementKeysRequest, context: CallContext) async throws -> StatementKeyList {
        try await listStatementKeys(request, context)
    }

    public func retireStatementKey(_ request: RetireStatementKeyRequest, context: CallContext) async throws -> StatementKeyList {
        try await retireStatementKey(request, context)
    }

    public func listDegradationRules(_ request: ListDegradationRulesRequest, context: CallContext) async throws -> DegradationRules {
        try await listDegradationRules(request, context)
    }

    public func startDegradation(_ request: StartDegradationRequest, context: CallContext) async throws -> DegradationOutcome {
        try await startDegradation(request, context)
    }

    public func renewDegradation(_ request: RenewDegradationRequest, context: CallContext) async throws -> DegradationOutcome {
        try await renewDegradation(request, context)
    }

    public func endDegradation(_ request: EndDegradationRequest, context: CallContext) async throws -> EndDegradationResponse {
        try await endDegradation(request, context)
    }

    public func listDegradationMeasures(_ request: ListDegradationMeasuresRequest, context: CallContext) async throws -> DegradationRules {
        try await listDegradationMeasures(request, context)
    }

    public func applyDegradationMeasure(_ request: ApplyDegradationMeasureRequest, context: CallContext) async throws -> DegradationOutcome {
        try await applyDegradationMeasure(request, context)
    }

    public func removeDegradationMeasures(
        _ request: RemoveDegradationMeasuresRequest, context: CallContext
    ) async throws -> DegradationRules {
        try await removeDegradationMeasures(request, context)
    }

    public func promoteCatalogue(_ request: PromoteCatalogueRequest, context: CallContext) async throws -> DraftOutcome {
        try await promoteCatalogue(request, context)
    }

    public func listProxiedMvpds(_ request: ListProxiedMvpdsRequest, context: CallContext) async throws -> ProxiedMvpds {
        try await listProxiedMvpds(request, context)
    }

    public func replaceProxiedMvpds(_ request: ReplaceProxiedMvpdsRequest, context: CallContext) async throws -> ProxiedMvpdsOutcome {
        try await replaceProxiedMvpds(request, context)
    }

    public func getReport(_ request: GetReportRequest, context: CallContext) async throws -> CatalogueReport {
        try await getReport(request, context)
    }

    public func listAuditRecords(_ request: ListAuditRecordsRequest, context: CallContext) async throws -> AuditPage {
        try await listAuditRecords(request, context)
    }

    public func verifyHistory(_ request: VerifyHistoryRequest, context: CallContext) async throws -> HistoryVerdict {
        try await verifyHistory(request, context)
    }
}
