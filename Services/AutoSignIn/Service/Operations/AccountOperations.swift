internal import Clocks
internal import Faults
internal import Storage

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
