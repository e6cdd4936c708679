internal import Clocks
internal import Contracts
internal import Storage

/// Statements about families and their values, to be put together in one commit.
extension Database {
    func family(_ id: FamilyID) throws -> FamilyRecord? {
        try Row.fetchOne(cachedStatement(sql: "SELECT * FROM family WHERE id = ?"), arguments: [id]).map(FamilyRecord.init(row:))
    }

    /// Newest first.
    func families(of account: AccountID) throws -> [FamilyRecord] {
        let statement = try cachedStatement(sql: "SELECT * FROM family WHERE account_id = ? ORDER BY created_at_ms DESC, id DESC")
        return try Row.fetchAll(statement, arguments: [account]).map(FamilyRecord.init(row:))
    }

    /// Those that came about in a session of the Apple link.
    func families(of link: AppleLinkID) throws -> [FamilyRecord] {
        let statement = try cachedStatement(sql: "SELECT * FROM family WHERE link_id = ? ORDER BY created_at_ms, id")
        return try Row.fetchAll(statement, arguments: [link]).map(FamilyRecord.init(row:))
    }

    /// Those that nobody has used in their time.
    func idleFamilies(now: Timestamp, limit: Int) throws -> [FamilyRecord] {
        let statement = try cachedStatement(sql: "SELECT * FROM family WHERE idle_at_ms <= ? LIMIT ?")
        return try Row.fetchAll(statement, arguments: [now, limit]).map(FamilyRecord.init(row:))
    }

    func insert(_ family: FamilyRecord) throws {
        let sql = """
            INSERT INTO family (id, account_id, programmer, bundle_id, environment, state, link_id, device_id, device_label, created_at_ms,
                last_used_at_ms, idle_at_ms, revoked_at_ms, reason)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """
        try cachedStatement(sql: sql).execute(arguments: [
            family.id, family.account, family.programmer, family.bundleID, Int(family.environment.rawValue), Int(family.state.rawValue), family.link,
            family.device, family.deviceLabel, family.createdAt, family.lastUsedAt, family.idleAt, family.revokedAt, family.reason,
        ])
    }

    /// Writes what may change of a family.
    func update(_ family: FamilyRecord) throws {
        let sql = """
            UPDATE family SET state = ?, last_used_at_ms = ?, idle_at_ms = ?, revoked_at_ms = ?, reason = ?, forget_at_ms = ? WHERE id = ?
            """
        try cachedStatement(sql: sql).execute(arguments: [
            Int(family.state.rawValue), family.lastUsedAt, family.idleAt, family.revokedAt, family.reason,
            family.revokedAt.map { $0 + FamilyRecord.memory }, family.id,
        ])
    }

    func version(_ id: TokenID) throws -> TokenVersionRecord? {
        try Row.fetchOne(cachedStatement(sql: "SELECT * FROM token_version WHERE id = ?"), arguments: [id]).map(TokenVersionRecord.init(row:))
    }

    /// Oldest first.
    func versions(of family: FamilyID) throws -> [TokenVersionRecord] {
        let statement = try cachedStatement(sql: "SELECT * FROM token_version WHERE family_id = ? ORDER BY number")
        return try Row.fetchAll(statement, arguments: [family]).map(TokenVersionRecord.init(row:))
    }

    /// Active ones that have to be replaced by now, each of another family.
    func versionsToRotate(now: Timestamp, limit: Int) throws -> [TokenVersionRecord] {
        let statement = try cachedStatement(sql: "SELECT * FROM token_version WHERE rotate_at_ms <= ? LIMIT ?")
        return try Row.fetchAll(statement, arguments: [now, limit]).map(TokenVersionRecord.init(row:))
    }

    func insert(_ version: TokenVersionRecord) throws {
        let sql = """
            INSERT INTO token_version (id, family_id, number, comparison, sealed, state, created_at_ms, activated_at_ms, superseded_at_ms)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
            """
        try cachedStatement(sql: sql).execute(arguments: [
            version.id, version.family, version.number, version.comparison, version.sealed, version.state.rawValue, version.createdAt,
            version.activatedAt, version.supersededAt,
        ])
    }

    /// Writes what may change of a value. An active one is due for rotation at its age; a value of a family that is over goes with it.
    func update(_ version: TokenVersionRecord, of family: FamilyRecord) throws {
        let sql = """
            UPDATE token_version SET sealed = ?, state = ?, activated_at_ms = ?, rotate_at_ms = ?, superseded_at_ms = ?, forget_at_ms = ?
            WHERE id = ?
            """
        let rotateAt = version.state == .active ? version.activatedAt.map { $0 + TokenVersionRecord.rotationAge } : nil
        try cachedStatement(sql: sql).execute(arguments: [
            version.sealed, version.state.rawValue, version.activatedAt, rotateAt, version.supersededAt,
            family.revokedAt.map { $0 + FamilyRecord.memory }, version.id,
        ])
    }

    func postponeRotation(_ version: TokenID, to moment: Timestamp) throws {
        try cachedStatement(sql: "UPDATE token_version SET rotate_at_ms = ? WHERE id = ?").execute(arguments: [moment, version])
    }
}

extension FamilyRecord {
    fileprivate init(row: Row) {
        self.init(
            id: row["id"], account: row["account_id"], programmer: row["programmer"], bundleID: row["bundle_id"],
            environment: AppleEnvironment(rawValue: row["environment"]), state: FamilyState(rawValue: row["state"]), link: row["link_id"],
            device: row["device_id"], deviceLabel: row["device_label"], createdAt: row["created_at_ms"], lastUsedAt: row["last_used_at_ms"],
            idleAt: row["idle_at_ms"], revokedAt: row["revoked_at_ms"], reason: row["reason"])
    }
}

extension TokenVersionRecord {
    fileprivate init(row: Row) {
        // A state of a newer layout never comes here: such a file is refused at the start.
        self.init(
            id: row["id"], family: row["family_id"], number: row["number"], comparison: row["comparison"], sealed: row["sealed"],
            state: TokenVersionState(rawValue: row["state"]) ?? .revoked, createdAt: row["created_at_ms"], activatedAt: row["activated_at_ms"],
            supersededAt: row["superseded_at_ms"])
    }
}
