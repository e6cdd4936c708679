internal import Clocks
internal import Contracts
internal import Faults
internal import Storage

/// Statements about families and their values, to be put together in one commit.
extension Database {
    func family(_ id: FamilyID) throws -> FamilyRecord? {
        try first(FamilyRecord.byID, [id]) { FamilyRecord(columns: &$0) }
    }

    /// Newest first.
    func families(of account: AccountID) throws -> [FamilyRecord] {
        try families("account_id = ? ORDER BY created_at_ms DESC, id DESC", [account])
    }

    /// Those that came about in a session of the Apple link.
    func families(of link: AppleLinkID) throws -> [FamilyRecord] {
        try families("link_id = ? ORDER BY created_at_ms, id", [link])
    }

    private func families(_ condition: String, _ arguments: Arguments) throws -> [FamilyRecord] {
        try all("SELECT \(FamilyRecord.columns) FROM family WHERE \(condition)", arguments) { FamilyRecord(columns: &$0) }
    }

    /// Those that nobody has used in their time.
    func idleFamilies(now: Timestamp, limit: Int) throws -> [FamilyRecord] {
        try families("idle_at_ms <= ? LIMIT ?", [now, limit])
    }

    func insert(_ family: FamilyRecord) throws {
        try run(
            "INSERT INTO family (\(FamilyRecord.columns)) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            [
                family.id, family.account, family.programmer, family.bundleID, Int(family.environment.rawValue), Int(family.state.rawValue),
                family.link, family.device, family.deviceLabel, family.createdAt, family.lastUsedAt, family.idleAt, family.revokedAt, family.reason,
            ])
    }

    /// Writes what may change of a family.
    func update(_ family: FamilyRecord) throws { try run(family.update) }

    func version(_ id: TokenID) throws -> TokenVersionRecord? {
        try first(TokenVersionRecord.byID, [id]) { try TokenVersionRecord(columns: &$0) }
    }

    /// Oldest first.
    func versions(of family: FamilyID) throws -> [TokenVersionRecord] {
        try versions("family_id = ? ORDER BY number", [family])
    }

    private func versions(_ condition: String, _ arguments: Arguments) throws -> [TokenVersionRecord] {
        try all("SELECT \(TokenVersionRecord.columns) FROM token_version WHERE \(condition)", arguments) {
            try TokenVersionRecord(columns: &$0)
        }
    }

    /// Active ones that have to be replaced by now, each of another family.
    func versionsToRotate(now: Timestamp, limit: Int) throws -> [TokenVersionRecord] {
        try versions("rotate_at_ms <= ? LIMIT ?", [now, limit])
    }

    func insert(_ version: TokenVersionRecord) throws {
        try run(
            "INSERT INTO token_version (\(TokenVersionRecord.columns)) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            [
                version.id, version.family, version.number, version.comparison, version.sealed, version.state.rawValue, version.createdAt,
                version.activatedAt, version.supersededAt,
            ])
    }

    /// Writes what may change of a value. An active one is due for rotation at its age; a value of a family that is over goes with it.
    func update(_ version: TokenVersionRecord, of family: FamilyRecord) throws {
        let change: Statement = """
            UPDATE token_version SET sealed = ?, state = ?, activated_at_ms = ?, rotate_at_ms = ?, superseded_at_ms = ?, forget_at_ms = ?
            WHERE id = ?
            """
        let rotateAt = version.state == .active ? version.activatedAt.map { $0 + TokenVersionRecord.rotationAge } : nil
        try run(
            change,
            [
                version.sealed, version.state.rawValue, version.activatedAt, rotateAt, version.supersededAt,
                family.revokedAt.map { $0 + FamilyRecord.memory }, version.id,
            ])
    }

    func postponeRotation(_ version: TokenID, to moment: Timestamp) throws {
        try run("UPDATE token_version SET rotate_at_ms = ? WHERE id = ?", [moment, version])
    }
}

extension FamilyRecord {
    /// In the order in which they are read and written.
    fileprivate static let columns = """
        id, account_id, programmer, bundle_id, environment, state, link_id, device_id, device_label, created_at_ms, last_used_at_ms, idle_at_ms, \
        revoked_at_ms, reason
        """

    static let byID: Statement = "SELECT \(columns) FROM family WHERE id = ?"

    var update: BoundStatement {
        BoundStatement(
            "UPDATE family SET state = ?, last_used_at_ms = ?, idle_at_ms = ?, revoked_at_ms = ?, reason = ?, forget_at_ms = ? WHERE id = ?",
            [Int(state.rawValue), lastUsedAt, idleAt, revokedAt, reason, revokedAt.map { $0 + Self.memory }, id])
    }

    init(columns: inout ColumnReader) {
        self.init(
            id: columns.next(), account: columns.next(), programmer: columns.next(), bundleID: columns.next(),
            environment: AppleEnvironment(rawValue: columns.next()), state: FamilyState(rawValue: columns.next()), link: columns.next(),
            device: columns.next(), deviceLabel: columns.next(), createdAt: columns.next(), lastUsedAt: columns.next(), idleAt: columns.next(),
            revokedAt: columns.next(), reason: columns.next())
    }
}

extension TokenVersionRecord {
    /// In the order in which they are read and written.
    fileprivate static let columns = "id, family_id, number, comparison, sealed, state, created_at_ms, activated_at_ms, superseded_at_ms"

    static let byID: Statement = "SELECT \(columns) FROM token_version WHERE id = ?"

    /// - Throws: For a state that only a newer version knows: it may be good, and is not to be taken for a revoked one.
    init(columns: inout ColumnReader) throws {
        var unknown: Int?
        func state(_ number: Int) -> TokenVersionState {
            guard let state = TokenVersionState(rawValue: number) else {
                unknown = number
                return .revoked
            }
            return state
        }
        self.init(
            id: columns.next(), family: columns.next(), number: columns.next(), comparison: columns.next(), sealed: columns.next(),
            state: state(columns.next()), createdAt: columns.next(), activatedAt: columns.next(), supersededAt: columns.next())
        if let unknown {
            throw Fault(
                .unavailable, "The state of a token was written by a newer version.", retryAfter: .seconds(5),
                cause: UnknownTokenState(number: unknown))
        }
    }
}

private struct UnknownTokenState: Error {
    let number: Int
}

/// Statements of an opt-in.
extension Database {
    /// The account that the caller's session opens; made when it is the person's first (apple §1.4).
    /// - Throws: `account_locked`.
    func accountForOptIn(_ caller: DeviceCaller, _ login: CallerLogin, new: AccountID, now: Timestamp) throws -> AccountID {
        let known = try caller.streaming?.account ?? accountID(of: login.person, programmer: caller.programmer)
        guard let known else {
            try insert(AccountRecord(id: new, programmer: caller.programmer, createdAt: now, logins: [login.person]))
            return new
        }
        guard let account = try account(known), account.closedAt == nil, !account.isLocked else {
            throw Fault(.accountLocked, "The account is locked.")
        }
        return known
    }

    /// The value is on the Apple Account.
    func confirm(_ family: FamilyRecord, _ touched: inout Touched, now: Timestamp) throws {
        var family = family
        family.state = .active
        family.idleAt = now + FamilyRecord.idleLimit
        try update(family)
        touched.families.insert(family.id)
        for version in try versions(of: family.id) where version.state == .pending {
            try activate(version, of: family, &touched, now: now)
        }
    }

    /// The part of a family that callers see.
    /// - Throws: `family_unknown`.
    func contract(_ id: FamilyID, now: Timestamp) throws -> TokenFamily {
        guard let family = try family(id) else { throw Fault.familyUnknown }
        return TokenFamily(family, sessions: try sessions(of: id).filter { $0.isLive(now) })
    }
}

extension TokenFamily {
    init(_ family: FamilyRecord, sessions: [StreamingSessionRecord]) {
        func milliseconds(_ moment: Timestamp?) -> UInt64 { moment.map { UInt64(clamping: $0.milliseconds) } ?? 0 }
        self.init(
            id: family.id.text, state: family.state, bundleID: family.bundleID.text, environment: family.environment,
            deviceLabel: family.deviceLabel, createdAtMilliseconds: milliseconds(family.createdAt),
            lastUsedAtMilliseconds: milliseconds(family.lastUsedAt), revokedAtMilliseconds: milliseconds(family.revokedAt),
            revocationReason: family.reason,
            devices: sessions.map { session in
                SignedInDevice(
                    sessionID: session.id.text, label: session.deviceLabel, requestor: session.requestor.text,
                    signedInAtMilliseconds: milliseconds(session.createdAt), expiresAtMilliseconds: milliseconds(session.expiresAt))
            })
    }
}
