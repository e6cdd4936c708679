internal import Clocks
internal import Storage

/// Statements about redemptions.
extension Database {
    func insert(_ redemption: RedemptionRecord) throws {
        let sql = "INSERT INTO redemption (family_id, device_id, address_hash, outcome, at_ms, expires_at_ms) VALUES (?, ?, ?, ?, ?, ?)"
        try cachedStatement(sql: sql).execute(arguments: [
            redemption.family, redemption.device, redemption.address, redemption.outcome.rawValue, redemption.at,
            redemption.at + RedemptionRecord.memory,
        ])
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
        let sql = "SELECT EXISTS (SELECT 1 FROM redemption WHERE family_id = ? AND device_id = ? AND outcome = ?)"
        let statement = try cachedStatement(sql: sql)
        return try Bool.fetchOne(statement, arguments: [family.id, device, RedemptionRecord.Outcome.accepted.rawValue]) ?? false
    }
}
