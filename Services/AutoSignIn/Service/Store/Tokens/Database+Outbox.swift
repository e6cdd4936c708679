internal import Clocks
internal import Faults
internal import Storage

/// Statements about letters, to be put together in one commit with what they are about.
extension Database {
    fileprivate static var waiting: Int { 0 }
    private static var dead: Int { 1 }

    func enqueue(_ letter: OutboxLetter, programmer: ProgrammerID, now: Timestamp) throws {
        try hold(letter)
        let insert: Statement = """
            INSERT INTO outbox (lane, lane_no, call, programmer, subject, payload, state, is_claimed, attempts, refused_credentials, is_unclear,
                last_status, created_at_ms, began_at_ms, next_at_ms)
            VALUES (?1, (SELECT coalesce(max(lane_no), 0) + 1 FROM outbox WHERE lane = ?1), ?2, ?3, ?4, ?5, ?6, 0, 0, 0, 0, 0, ?7, ?7, ?7)
            """
        try run(insert, [letter.partition, letter.kind.rawValue, programmer, letter.subject, letter.payload, Self.waiting, now])
    }

    /// A writer that leaves a letter in a queue changes the row that the queue belongs to. So on every engine the numbers of letters follow their
    /// commits.
    private func hold(_ letter: OutboxLetter) throws {
        switch letter.kind {
        case .update, .delete: try run("UPDATE family SET state = state WHERE id = ?", [letter.subject])
        case .revoke: try run("UPDATE apple_link SET account_id = account_id WHERE id = ?", [letter.subject])
        // The queue of one session, which ends in the same commit.
        case .endSessions: break
        }
    }

    /// Changes one row, or none when somebody else has it.
    static func claim(_ item: OutboxItem, until lease: Timestamp) -> BoundStatement {
        let claim: Statement = """
            UPDATE outbox SET is_claimed = 1, attempts = attempts + 1, is_unclear = 1, next_at_ms = ?
            WHERE id = ? AND state = ? AND next_at_ms = ? AND attempts = ?
            """
        return BoundStatement(claim, [lease, item.id, waiting, item.nextAt, item.progress.attempts])
    }

    /// True when the letter is still this try's: its lease has not gone to another one.
    func isHeld(_ item: OutboxItem) throws -> Bool {
        try hasRow(
            "SELECT 1 FROM outbox WHERE id = ? AND state = ? AND is_claimed = 1 AND attempts = ? AND next_at_ms = ?",
            [item.id, Self.waiting, item.progress.attempts, item.nextAt])
    }

    func postpone(_ item: OutboxItem, to moment: Timestamp, _ progress: DeliveryProgress) throws {
        try note(item, progress, state: Self.waiting, nextAt: moment, givenUpAt: nil)
    }

    func bury(_ item: OutboxItem, _ progress: DeliveryProgress, now: Timestamp) throws {
        try note(item, progress, state: Self.dead, nextAt: now, givenUpAt: now)
    }

    /// A dead letter waits again, as if it were new but for what is unclear.
    func revive(_ item: OutboxItem, now: Timestamp) throws {
        let progress = DeliveryProgress(beganAt: now, isUnclear: item.progress.isUnclear)
        try note(item, progress, state: Self.waiting, nextAt: now, givenUpAt: nil)
    }

    private func note(_ item: OutboxItem, _ progress: DeliveryProgress, state: Int, nextAt: Timestamp, givenUpAt: Timestamp?) throws {
        let note: Statement = """
            UPDATE outbox SET state = ?, is_claimed = 0, attempts = ?, refused_credentials = ?, is_unclear = ?, last_status = ?, began_at_ms = ?,
                next_at_ms = ?, given_up_at_ms = ? WHERE id = ?
            """
        try run(
            note,
            [
                state, progress.attempts, progress.refusedCredentials, progress.isUnclear, progress.lastStatus, progress.beganAt, nextAt, givenUpAt,
                item.id,
            ])
    }

    /// Letters of the queue that nobody has under way go out at once.
    func hasten(partition: String, now: Timestamp) throws {
        try run(
            "UPDATE outbox SET next_at_ms = ?1 WHERE lane = ?2 AND state = ?3 AND is_claimed = 0 AND next_at_ms > ?1", [now, partition, Self.waiting])
    }

    func remove(_ item: OutboxItem) throws {
        try run("DELETE FROM outbox WHERE id = ?", [item.id])
    }

    /// The letters of a queue that wait, oldest first.
    func waitingLetters(partition: String) throws -> [OutboxItem] {
        try letters("SELECT \(OutboxItem.columns) FROM outbox WHERE lane = ? AND state = ? ORDER BY lane_no", [partition, Self.waiting])
    }

    func deadLetter(_ id: Int64) throws -> OutboxItem? {
        try letters("SELECT \(OutboxItem.columns) FROM outbox WHERE id = ? AND state = ?", [id, Self.dead]).first
    }

    func deadLetters(limit: Int) throws -> [OutboxItem] {
        try letters("SELECT \(OutboxItem.columns) FROM outbox WHERE state = ? ORDER BY created_at_ms, id LIMIT ?", [Self.dead, limit])
    }

    private func letters(_ statement: Statement, _ arguments: Arguments) throws -> [OutboxItem] {
        try all(statement, arguments) { OutboxItem(columns: &$0) }.compactMap(\.self)
    }
}

extension OutboxItem {
    /// In the order in which they are read.
    fileprivate static let columns = """
        call, id, lane, subject, payload, programmer, began_at_ms, attempts, refused_credentials, is_unclear, last_status, created_at_ms, next_at_ms, \
        given_up_at_ms
        """

    /// - Returns: `nil` for a kind that this version does not know.
    fileprivate init?(columns: inout ColumnReader) {
        guard let kind = OutboxKind(rawValue: columns.next()) else { return nil }
        self.init(
            id: columns.next(), letter: OutboxLetter(partition: columns.next(), kind: kind, subject: columns.next(), payload: columns.next()),
            programmer: columns.next(),
            progress: DeliveryProgress(
                beganAt: columns.next(), attempts: columns.next(), refusedCredentials: columns.next(), isUnclear: columns.next(),
                lastStatus: columns.next()),
            createdAt: columns.next(), nextAt: columns.next(), givenUpAt: columns.next())
    }
}

extension AutoSignInStore {
    /// The first letter of each queue, where its time has come. A queue holds letters of one destination.
    /// - Throws: Faults of the storage.
    func dueLetters(_ kinds: [OutboxKind], now: Timestamp, limit: Int) async throws(Fault) -> [OutboxItem] {
        let places = kinds.map { _ in "?" }.joined(separator: ", ")
        let due: Statement = """
            SELECT \(OutboxItem.columns) FROM outbox AS letter WHERE state = ? AND next_at_ms <= ? AND call IN (\(places))
                AND NOT EXISTS (
                    SELECT 1 FROM outbox AS earlier WHERE earlier.lane = letter.lane AND earlier.state = ? AND earlier.lane_no < letter.lane_no)
            ORDER BY next_at_ms, id LIMIT ?
            """
        let names = Arguments(kinds.map(\.rawValue.stored))
        let letters = try await store.all(due, [Database.waiting, now] + names + [Database.waiting, limit]) { OutboxItem(columns: &$0) }
        return letters.compactMap(\.self)
    }
}

/// Statements about redemptions.
extension Database {
    func insert(_ redemption: RedemptionRecord) throws {
        try run(redemption.insert)
    }

    /// True when all that a verdict on the value hangs on is as these records have it, and the account can be signed in to.
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
