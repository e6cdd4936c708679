internal import Clocks
internal import Identifiers
internal import Storage

/// Statements about browsers.
extension Database {
    func insert(_ handle: Digest, of caller: (account: AccountID, programmer: ProgrammerID, requestor: RequestorID), until: Timestamp) throws {
        let sql = "INSERT INTO web_link (handle, account_id, programmer, requestor, expires_at_ms) VALUES (?, ?, ?, ?, ?)"
        try cachedStatement(sql: sql).execute(arguments: [handle, caller.account, caller.programmer, caller.requestor, until])
    }

    /// A link is for one use: it is gone when this returns.
    func takeLink(_ handle: Digest, now: Timestamp) throws -> (account: AccountID, programmer: ProgrammerID, requestor: RequestorID)? {
        let statement = try cachedStatement(sql: "DELETE FROM web_link WHERE handle = ? RETURNING *")
        guard let row = try Row.fetchOne(statement, arguments: [handle]), now < row["expires_at_ms"] as Timestamp else { return nil }
        return (row["account_id"], row["programmer"], row["requestor"])
    }

    func insert(_ session: WebCaller, until: Timestamp) throws {
        let sql = "INSERT INTO web_session (secret, account_id, programmer, requestor, expires_at_ms) VALUES (?, ?, ?, ?, ?)"
        try cachedStatement(sql: sql).execute(arguments: [session.session, session.account, session.programmer, session.requestor, until])
    }

    func webSession(_ secret: Digest, now: Timestamp) throws -> WebCaller? {
        let statement = try cachedStatement(sql: "SELECT * FROM web_session WHERE secret = ? AND expires_at_ms > ?")
        return try Row.fetchOne(statement, arguments: [secret, now]).map { row in
            WebCaller(session: row["secret"], account: row["account_id"], programmer: row["programmer"], requestor: row["requestor"])
        }
    }

    func endWebSession(_ secret: Digest) throws {
        try cachedStatement(sql: "DELETE FROM web_session WHERE secret = ?").execute(arguments: [secret])
    }

    /// Links and sessions of browsers that are the account's.
    func endWebSessions(of account: AccountID) throws {
        try cachedStatement(sql: "DELETE FROM web_link WHERE account_id = ?").execute(arguments: [account])
        try cachedStatement(sql: "DELETE FROM web_session WHERE account_id = ?").execute(arguments: [account])
    }
}
