internal import Clocks
internal import Storage

/// Statements about refresh tokens.
extension Database {
    func appleGrants(of link: AppleLinkID) throws -> [AppleGrantRecord] {
        try all("SELECT \(AppleGrantRecord.columns) FROM apple_grant WHERE link_id = ? ORDER BY client_id", [link]) { AppleGrantRecord(columns: &$0) }
    }

    /// In place of an earlier one of the same client id.
    func put(_ grant: AppleGrantRecord) throws {
        try run(
            """
            INSERT INTO apple_grant (\(AppleGrantRecord.columns)) VALUES (?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT (link_id, client_id) DO UPDATE SET group_id = excluded.group_id, sealed = excluded.sealed,
                validated_at_ms = excluded.validated_at_ms, next_check_at_ms = excluded.next_check_at_ms,
                unclear_since_ms = excluded.unclear_since_ms
            """, [grant.link, grant.client, grant.group, grant.sealed, grant.validatedAt, grant.nextCheckAt, grant.unclearSince])
    }

    /// Notes what a check came to, unless the token was replaced meanwhile.
    func note(_ grant: AppleGrantRecord) throws {
        try run(
            """
            UPDATE apple_grant SET validated_at_ms = ?, next_check_at_ms = ?, unclear_since_ms = ? WHERE link_id = ? AND client_id = ? AND sealed = ?
            """, [grant.validatedAt, grant.nextCheckAt, grant.unclearSince, grant.link, grant.client, grant.sealed])
    }

    func remove(_ grant: AppleGrantRecord) throws {
        try run("DELETE FROM apple_grant WHERE link_id = ? AND client_id = ? AND sealed = ?", [grant.link, grant.client, grant.sealed])
    }

    /// Takes the tokens out and has Apple end each, by its own client id (apple §2.5).
    func revokeGrants(of link: AppleLinkRecord, now: Timestamp) throws {
        for grant in try appleGrants(of: link.id) {
            let letter = try AppleRevocation(team: link.team, client: grant.client, sealed: grant.sealed).letter(link.id)
            try enqueue(letter, programmer: link.programmer, now: now)
            try remove(grant)
        }
    }

    /// Erases those of a group of apps; Apple has ended them already.
    func eraseGrants(of link: AppleLinkID, group: String?) throws {
        for grant in try appleGrants(of: link) where group == nil || grant.group == group { try remove(grant) }
    }

    /// Keeps others from making the same check until the lease is over.
    /// - Returns: False when somebody else makes it, or it is not due any more.
    func claim(_ grant: AppleGrantRecord, until lease: Timestamp) throws -> Bool {
        try run(
            "UPDATE apple_grant SET next_check_at_ms = ? WHERE link_id = ? AND client_id = ? AND sealed = ? AND next_check_at_ms = ?",
            [lease, grant.link, grant.client, grant.sealed, grant.nextCheckAt]) == 1
    }

    /// Links with a token that is due, of accounts with a live session (apple §2.5).
    func linksToCheck(now: Timestamp, limit: Int) throws -> [AppleLinkID] {
        let due: Statement = """
            SELECT DISTINCT apple_grant.link_id FROM apple_grant JOIN apple_link ON apple_link.id = apple_grant.link_id
            WHERE apple_grant.next_check_at_ms <= ?1 AND EXISTS (
                SELECT 1 FROM streaming_session AS session
                WHERE session.account_id = apple_link.account_id AND session.expires_at_ms > ?1 AND session.last_used_at_ms > ?2)
            LIMIT ?3
            """
        return try values(due, [now, now - StreamingSessionRecord.idleLimit, limit])
    }
}

extension AppleGrantRecord {
    /// In the order in which they are read and written.
    fileprivate static let columns = "link_id, client_id, group_id, sealed, validated_at_ms, next_check_at_ms, unclear_since_ms"

    fileprivate init(columns: inout ColumnReader) {
        self.init(
            link: columns.next(), client: columns.next(), group: columns.next(), sealed: columns.next(), validatedAt: columns.next(),
            nextCheckAt: columns.next(), unclearSince: columns.next())
    }
}
