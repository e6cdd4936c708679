internal import Clocks
internal import Foundation
internal import Storage

/// Statements about letters, to be put together in one commit with what they are about.
extension Database {
    private static var waiting: Int { 0 }
    private static var dead: Int { 1 }

    func enqueue(_ letter: OutboxLetter, programmer: ProgrammerID, now: Timestamp) throws {
        let sql = """
            INSERT INTO outbox (lane, call, programmer, subject, payload, state, is_claimed, attempts, refused_credentials, is_unclear,
                last_status, created_at_ms, began_at_ms, next_at_ms)
            VALUES (?, ?, ?, ?, ?, ?, 0, 0, 0, 0, 0, ?, ?, ?)
            """
        try cachedStatement(sql: sql).execute(arguments: [
            letter.lane, letter.kind.rawValue, programmer, letter.subject, Data(letter.payload), Self.waiting, now, now, now,
        ])
    }

    /// The first letter of each lane, where its time has come. A lane holds letters of one destination.
    func dueLetters(_ kinds: [OutboxKind], now: Timestamp, limit: Int) throws -> [OutboxItem] {
        let places = kinds.map { _ in "?" }.joined(separator: ", ")
        let sql = """
            SELECT * FROM outbox AS letter WHERE state = ? AND next_at_ms <= ? AND call IN (\(places))
                AND NOT EXISTS (SELECT 1 FROM outbox AS earlier WHERE earlier.lane = letter.lane AND earlier.state = ? AND earlier.id < letter.id)
            ORDER BY next_at_ms, id LIMIT ?
            """
        let names: [any DatabaseValueConvertible] = kinds.map(\.rawValue)
        let arguments = StatementArguments([Self.waiting, now] + names + [Self.waiting, limit])
        return try Row.fetchAll(cachedStatement(sql: sql), arguments: arguments).compactMap(OutboxItem.init(row:))
    }

    /// - Returns: False when somebody else has it.
    func claim(_ item: OutboxItem, until lease: Timestamp) throws -> Bool {
        let sql = """
            UPDATE outbox SET is_claimed = 1, attempts = attempts + 1, is_unclear = 1, next_at_ms = ?
            WHERE id = ? AND state = ? AND next_at_ms = ? AND attempts = ?
            """
        try cachedStatement(sql: sql).execute(arguments: [lease, item.id, Self.waiting, item.nextAt, item.progress.attempts])
        return changesCount == 1
    }

    /// Whether the letter is still this try's: its lease has not gone to another one.
    func isHeld(_ item: OutboxItem) throws -> Bool {
        let sql = "SELECT 1 FROM outbox WHERE id = ? AND state = ? AND is_claimed = 1 AND attempts = ? AND next_at_ms = ?"
        let arguments: StatementArguments = [item.id, Self.waiting, item.progress.attempts, item.nextAt]
        return try Row.fetchOne(cachedStatement(sql: sql), arguments: arguments) != nil
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
        let sql = """
            UPDATE outbox SET state = ?, is_claimed = 0, attempts = ?, refused_credentials = ?, is_unclear = ?, last_status = ?, began_at_ms = ?,
                next_at_ms = ?, given_up_at_ms = ? WHERE id = ?
            """
        try cachedStatement(sql: sql).execute(arguments: [
            state, progress.attempts, progress.refusedCredentials, progress.isUnclear, progress.lastStatus, progress.beganAt, nextAt,
            givenUpAt, item.id,
        ])
    }

    /// Letters of the lane that nobody has under way go out at once.
    func hasten(lane: String, now: Timestamp) throws {
        let sql = "UPDATE outbox SET next_at_ms = ? WHERE lane = ? AND state = ? AND is_claimed = 0 AND next_at_ms > ?"
        try cachedStatement(sql: sql).execute(arguments: [now, lane, Self.waiting, now])
    }

    func remove(_ item: OutboxItem) throws {
        try cachedStatement(sql: "DELETE FROM outbox WHERE id = ?").execute(arguments: [item.id])
    }

    /// The letters of a lane that wait, oldest first.
    func waitingLetters(lane: String) throws -> [OutboxItem] {
        let statement = try cachedStatement(sql: "SELECT * FROM outbox WHERE lane = ? AND state = ? ORDER BY id")
        return try Row.fetchAll(statement, arguments: [lane, Self.waiting]).compactMap(OutboxItem.init(row:))
    }

    func deadLetter(_ id: Int64) throws -> OutboxItem? {
        let statement = try cachedStatement(sql: "SELECT * FROM outbox WHERE id = ? AND state = ?")
        return try Row.fetchOne(statement, arguments: [id, Self.dead]).flatMap(OutboxItem.init(row:))
    }

    func deadLetters(limit: Int) throws -> [OutboxItem] {
        let statement = try cachedStatement(sql: "SELECT * FROM outbox WHERE state = ? ORDER BY id LIMIT ?")
        return try Row.fetchAll(statement, arguments: [Self.dead, limit]).compactMap(OutboxItem.init(row:))
    }
}

extension OutboxItem {
    /// - Returns: `nil` for a kind that this version does not know.
    fileprivate init?(row: Row) {
        guard let kind = OutboxKind(rawValue: row["call"]) else { return nil }
        let payload: Data = row["payload"]
        self.init(
            id: row["id"], letter: OutboxLetter(lane: row["lane"], kind: kind, subject: row["subject"], payload: [UInt8](payload)),
            programmer: row["programmer"],
            progress: DeliveryProgress(
                beganAt: row["began_at_ms"], attempts: row["attempts"], refusedCredentials: row["refused_credentials"],
                isUnclear: row["is_unclear"], lastStatus: row["last_status"]),
            createdAt: row["created_at_ms"], nextAt: row["next_at_ms"], givenUpAt: row["given_up_at_ms"])
    }
}
