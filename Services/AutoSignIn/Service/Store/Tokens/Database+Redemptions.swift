internal import Clocks
internal import Storage

/// Statements about redemptions.
extension Database {
    func insert(_ redemption: RedemptionRecord) throws {
        try run(redemption.insert)
    }

    /// Whether all that a verdict on the value hangs on is as these records have it, and the account can be signed in to.
    func stands(_ version: TokenVersionRecord, of family: FamilyRecord) throws -> Bool {
        let standing = version.standing(family)
        return try hasRow(standing.statement, standing.arguments)
    }

    /// A device shows a value that is accepted: the first time this stands for its confirmation. Later uses are noted once an hour.
    func noteUse(of family: FamilyRecord, by version: TokenVersionRecord, _ touched: inout Touched, now: Timestamp) throws {
        if version.state == .pending { try activate(version, of: family, &touched, now: now) }
        guard let used = family.used(now) else { return }
        try update(used)
        touched.families.insert(family.id)
    }
}

extension RedemptionRecord {
    var insert: BoundStatement {
        BoundStatement(
            "INSERT INTO redemption (family_id, device_id, address_hash, outcome, at_ms, expires_at_ms) VALUES (?, ?, ?, ?, ?, ?)",
            [family, device, address, outcome.rawValue, at, at + Self.memory])
    }
}

extension FamilyRecord {
    /// As it is once a device has shown a value of it; `nil`: that is known to the hour.
    func used(_ now: Timestamp) -> FamilyRecord? {
        if state == .active, let usedAt = lastUsedAt, now - usedAt < Self.useInterval { return nil }
        var family = self
        family.state = .active
        family.lastUsedAt = now
        family.idleAt = now + Self.idleLimit
        return family
    }
}

extension TokenVersionRecord {
    // The plus keeps SQLite from holding the parameter against the condition of a partial index: it would compile the statement anew for each value.
    static let standing = """
        SELECT 1 FROM token_version JOIN family ON family.id = token_version.family_id JOIN account ON account.id = family.account_id
        WHERE token_version.id = ? AND +token_version.state = ? AND token_version.activated_at_ms IS NOT DISTINCT FROM ?
            AND token_version.superseded_at_ms IS NOT DISTINCT FROM ? AND family.id = ? AND family.state = ? AND family.account_id = ?
            AND family.last_used_at_ms IS NOT DISTINCT FROM ? AND family.idle_at_ms IS NOT DISTINCT FROM ? AND account.is_locked = 0
            AND account.closed_at_ms IS NULL AND EXISTS (SELECT 1 FROM account_login WHERE account_login.account_id = account.id)
        """

    /// Returns a row while all that a verdict on the value hangs on is as these records have it.
    func standing(_ family: FamilyRecord) -> BoundStatement {
        BoundStatement(
            Statement(Self.standing),
            [
                id, state.rawValue, activatedAt, supersededAt, family.id, Int(family.state.rawValue), family.account, family.lastUsedAt,
                family.idleAt,
            ])
    }
}
