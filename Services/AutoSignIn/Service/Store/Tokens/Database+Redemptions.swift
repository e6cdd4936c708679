internal import Clocks
internal import Storage

/// Statements about redemptions.
extension Database {
    func insert(_ redemption: RedemptionRecord) throws {
        try run(
            "INSERT INTO redemption (family_id, device_id, address_hash, outcome, at_ms, expires_at_ms) VALUES (?, ?, ?, ?, ?, ?)",
            [
                redemption.family, redemption.device, redemption.address, redemption.outcome.rawValue, redemption.at,
                redemption.at + RedemptionRecord.memory,
            ])
    }

    /// Whether all that a verdict on the value hangs on is as these records have it, and the account can be signed in to.
    func stands(_ version: TokenVersionRecord, of family: FamilyRecord) throws -> Bool {
        // The plus keeps SQLite from holding the parameter against the condition of a partial index: it would compile the statement anew for each value.
        let standing: Statement = """
            SELECT 1 FROM token_version JOIN family ON family.id = token_version.family_id JOIN account ON account.id = family.account_id
            WHERE token_version.id = ? AND +token_version.state = ? AND token_version.activated_at_ms IS NOT DISTINCT FROM ?
                AND token_version.superseded_at_ms IS NOT DISTINCT FROM ? AND family.id = ? AND family.state = ? AND family.account_id = ?
                AND family.last_used_at_ms IS NOT DISTINCT FROM ? AND family.idle_at_ms IS NOT DISTINCT FROM ? AND account.is_locked = 0 AND account.closed_at_ms IS NULL
                AND EXISTS (SELECT 1 FROM account_login WHERE account_login.account_id = account.id)
            """
        let arguments: Arguments = [
            version.id, version.state.rawValue, version.activatedAt, version.supersededAt, family.id, Int(family.state.rawValue), family.account,
            family.lastUsedAt, family.idleAt,
        ]
        return try hasRow(standing, arguments)
    }

    /// A device shows a value that is accepted: the first time this stands for its confirmation. Later uses are noted once an hour.
    func noteUse(of family: FamilyRecord, by version: TokenVersionRecord, _ touched: inout Touched, now: Timestamp) throws {
        if version.state == .pending { try activate(version, of: family, &touched, now: now) }
        if family.state == .active, let usedAt = family.lastUsedAt, now - usedAt < FamilyRecord.useInterval { return }
        var family = family
        family.state = .active
        family.lastUsedAt = now
        family.idleAt = now + FamilyRecord.idleLimit
        try update(family)
        touched.families.insert(family.id)
    }

    /// Whether the device opted in, or was let in by a value of the family in the last 90 days.
    func knows(_ device: DeviceID, _ family: FamilyRecord) throws -> Bool {
        if family.device == device { return true }
        return try hasRow(
            "SELECT 1 FROM redemption WHERE family_id = ? AND device_id = ? AND outcome = ? LIMIT 1",
            [family.id, device, RedemptionRecord.Outcome.accepted.rawValue])
    }
}
