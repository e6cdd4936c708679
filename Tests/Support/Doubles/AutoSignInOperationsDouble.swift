public import ContractRuntime
public import Contracts

/// Stands in for what the autosignin service does for operators; each operation answers as its script says.
public final class AutoSignInOperationsDouble: AutoSignInOperations {
    public let listDeadLetters = Scripted<ListDeadLettersRequest, DeadLetters>()
    public let sendAgain = Scripted<SendAgainRequest, SendAgainResponse>()
    public let listSecurityEvents = Scripted<ListSecurityEventsRequest, SecurityEvents>()
    public let setAccountLock = Scripted<SetAccountLockRequest, SetAccountLockResponse>()
    public let closeAccount = Scripted<CloseAccountRequest, CloseAccountResponse>()
    public let validateAppleSession = Scripted<ValidateAppleSessionRequest, AppleSessionState>()
    public let revokeApple = Scripted<RevokeAppleRequest, RevokeAppleResponse>()
    public let exchangeTransfer = Scripted<ExchangeTransferRequest, ExchangedTransfer>()
    public let importTransfers = Scripted<ImportTransfersRequest, ImportTransfersResponse>()
    public let exportPerson = Scripted<AccountHolder, AccountHolderExport>()
    public let erasePerson = Scripted<AccountHolder, ErasedRecords>()

    public init() {}

    public func listDeadLetters(_ request: ListDeadLettersRequest, context: CallContext) async throws -> DeadLetters {
        try await listDeadLetters(request, context)
    }

    public func sendAgain(_ request: SendAgainRequest, context: CallContext) async throws -> SendAgainResponse {
        try await sendAgain(request, context)
    }

    public func listSecurityEvents(_ request: ListSecurityEventsRequest, context: CallContext) async throws -> SecurityEvents {
        try await listSecurityEvents(request, context)
    }

    public func setAccountLock(_ request: SetAccountLockRequest, context: CallContext) async throws -> SetAccountLockResponse {
        try await setAccountLock(request, context)
    }

    public func closeAccount(_ request: CloseAccountRequest, context: CallContext) async throws -> CloseAccountResponse {
        try await closeAccount(request, context)
    }

    public func validateAppleSession(_ request: ValidateAppleSessionRequest, context: CallContext) async throws -> AppleSessionState {
        try await validateAppleSession(request, context)
    }

    public func revokeApple(_ request: RevokeAppleRequest, context: CallContext) async throws -> RevokeAppleResponse {
        try await revokeApple(request, context)
    }

    public func exchangeTransfer(_ request: ExchangeTransferRequest, context: CallContext) async throws -> ExchangedTransfer {
        try await exchangeTransfer(request, context)
    }

    public func importTransfers(_ request: ImportTransfersRequest, context: CallContext) async throws -> ImportTransfersResponse {
        try await importTransfers(request, context)
    }

    public func exportPerson(_ request: AccountHolder, context: CallContext) async throws -> AccountHolderExport {
        try await exportPerson(request, context)
    }

    public func erasePerson(_ request: AccountHolder, context: CallContext) async throws -> ErasedRecords {
        try await erasePerson(request, context)
    }
}
