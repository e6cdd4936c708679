internal import Clocks
public import ContractRuntime
public import Contracts
internal import Faults
internal import Storage

/// The operator's side of the service (apple §4).
public struct AutoSignInOperationsService: AutoSignInOperations {
    private let base: AutoSignInBase
    private let apple: AppleOperations
    private let accounts: AccountOperations

    private static let standardEvents = 100
    private static let mostEvents = 1000

    init(_ base: AutoSignInBase, apple: AppleOperations) {
        self.base = base
        self.apple = apple
        accounts = AccountOperations(base: base, apple: apple)
    }

    public func listDeadLetters(_ request: ListDeadLettersRequest, context: CallContext) async throws -> DeadLetters {
        DeadLetters(letters: try await base.outbox.deadLetters().map(DeadLetter.init))
    }

    public func sendAgain(_ request: SendAgainRequest, context: CallContext) async throws -> SendAgainResponse {
        SendAgainResponse(wasKnown: try await base.outbox.sendAgain(Int64(clamping: request.id)))
    }

    public func listSecurityEvents(_ request: ListSecurityEventsRequest, context: CallContext) async throws -> SecurityEvents {
        let limit = request.limit == 0 ? Self.standardEvents : min(Int(request.limit), Self.mostEvents)
        return SecurityEvents(events: try await base.events.latest(limit).map(SecurityEvent.init))
    }

    public func setAccountLock(_ request: SetAccountLockRequest, context: CallContext) async throws -> SetAccountLockResponse {
        SetAccountLockResponse(wasKnown: try await accounts.setLock(AccountID(request.accountID), request.isLocked))
    }

    public func closeAccount(_ request: CloseAccountRequest, context: CallContext) async throws -> CloseAccountResponse {
        CloseAccountResponse(wasKnown: try await accounts.close(AccountID(request.accountID)))
    }

    public func validateAppleSession(_ request: ValidateAppleSessionRequest, context: CallContext) async throws -> AppleSessionState {
        try await apple.validate(AppleLinkID(request.linkID), context)
    }

    public func revokeApple(_ request: RevokeAppleRequest, context: CallContext) async throws -> RevokeAppleResponse {
        RevokeAppleResponse(wasKnown: try await apple.revoke(AppleLinkID(request.linkID), reason: request.reason))
    }

    public func exchangeTransfer(_ request: ExchangeTransferRequest, context: CallContext) async throws -> ExchangedTransfer {
        try await apple.exchangeTransfer(request, context)
    }

    public func importTransfers(_ request: ImportTransfersRequest, context: CallContext) async throws -> ImportTransfersResponse {
        ImportTransfersResponse(imported: UInt32(try await apple.importTransfers(request)))
    }

    /// - Throws: As `PersonOperations.export`.
    public func exportPerson(_ request: AccountHolder, context: CallContext) async throws -> AccountHolderExport {
        try await PersonOperations(base: base, apple: apple).export(request)
    }

    /// - Throws: As `PersonOperations.erase`.
    public func erasePerson(_ request: AccountHolder, context: CallContext) async throws -> ErasedRecords {
        try await PersonOperations(base: base, apple: apple).erase(request)
    }
}

extension DeadLetter {
    init(_ item: OutboxItem) {
        self.init(
            id: UInt64(clamping: item.id), familyID: item.letter.kind.isForStoreKit ? item.letter.subject : "", call: item.letter.kind.rawValue,
            attempts: UInt32(clamping: item.progress.attempts), lastStatus: UInt32(clamping: item.progress.lastStatus),
            createdAtMilliseconds: UInt64(clamping: item.createdAt.milliseconds),
            givenUpAtMilliseconds: UInt64(clamping: item.givenUpAt?.milliseconds ?? 0))
    }
}

extension SecurityEvent {
    init(_ record: SecurityEventRecord) {
        self.init(
            atMilliseconds: UInt64(clamping: record.at.milliseconds), kind: record.kind.name, familyID: record.family?.text ?? "",
            accountID: record.account?.text ?? "", requestor: record.requestor?.text ?? "")
    }
}

/// Locks, opens and closes accounts.
struct AccountOperations: Sendable {
    let base: AutoSignInBase
    let apple: AppleOperations

    /// - Returns: False when there is no such account, or it is closed.
    func setLock(_ id: AccountID, _ isLocked: Bool) async throws(Fault) -> Bool {
        guard try await base.parts.store.setLock(id, isLocked) else { return false }
        try await base.events.record(
            SecurityEventRecord(at: base.parts.clock.now(), kind: isLocked ? .accountLocked : .accountUnlocked, account: id))
        return true
    }

    /// Revokes everything and forgets the person in one commit; Apple hears of it when it can (apple §2.5).
    /// - Returns: False when there is no such account.
    func close(_ id: AccountID) async throws(Fault) -> Bool {
        let now = base.parts.clock.now()
        let event = SecurityEventRecord(at: now, kind: .accountClosed, account: id)
        let families = try await base.parts.store.change { [apple] database, touched -> [FamilyID]? in
            guard let account = try database.account(id) else { return nil }
            if account.closedAt != nil { return [] }
            let families = try database.close(account, apple, &touched, now: now)
            try database.insert(event)
            return families
        }
        guard let families else { return false }
        for _ in families { base.parts.metrics.revoked(RevocationReason.accountClosed.label) }
        base.events.tell(event)
        base.outbox.wake()
        return true
    }
}

extension Database {
    /// Ends everything of an account and forgets the person.
    /// - Returns: The families that ended.
    func close(_ account: AccountRecord, _ apple: AppleOperations, _ touched: inout Touched, now: Timestamp) throws -> [FamilyID] {
        let families = try revokeAll(of: account.id, .accountClosed, &touched, now: now).families
        let sessions = try sessions(of: account.id)
        try end(sessions, now: now)
        touched.sessions.formUnion(sessions.map(\.id))
        try endWebSessions(of: account.id)
        try apple.forget(account.id, in: self, &touched, now: now)
        try close(account.id, now: now)
        touched.accounts.insert(account.id)
        return families
    }
}
