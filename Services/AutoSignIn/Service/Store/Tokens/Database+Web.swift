internal import Clocks
internal import Faults
internal import Identifiers
internal import Storage

/// Statements about browsers.
extension Database {
    func insert(_ handle: Digest, of caller: (account: AccountID, programmer: ProgrammerID, requestor: RequestorID), until: Timestamp) throws {
        try run(
            "INSERT INTO web_link (handle, account_id, programmer, requestor, expires_at_ms) VALUES (?, ?, ?, ?, ?)",
            [handle, caller.account, caller.programmer, caller.requestor, until])
    }

    /// A link is for one use: it is gone when this returns.
    func takeLink(_ handle: Digest, now: Timestamp) throws -> (account: AccountID, programmer: ProgrammerID, requestor: RequestorID)? {
        let taken = try first("DELETE FROM web_link WHERE handle = ? RETURNING expires_at_ms, account_id, programmer, requestor", [handle]) {
            (
                until: $0.next() as Timestamp, account: $0.next() as AccountID, programmer: $0.next() as ProgrammerID,
                requestor: $0.next() as RequestorID
            )
        }
        guard let taken, now < taken.until else { return nil }
        return (taken.account, taken.programmer, taken.requestor)
    }

    func insert(_ session: WebCaller, until: Timestamp) throws {
        try run(
            "INSERT INTO web_session (secret, account_id, programmer, requestor, expires_at_ms) VALUES (?, ?, ?, ?, ?)",
            [session.session, session.account, session.programmer, session.requestor, until])
    }

    /// Links and sessions of browsers that are the account's.
    func endWebSessions(of account: AccountID) throws {
        try run("DELETE FROM web_link WHERE account_id = ?", [account])
        try run("DELETE FROM web_session WHERE account_id = ?", [account])
    }
}

/// Those that are known whole.
extension AutoSignInStore {
    /// - Throws: Faults of the storage, here and below.
    func webSession(_ secret: Digest, now: Timestamp) async throws(Fault) -> WebCaller? {
        let live: Statement = "SELECT secret, account_id, programmer, requestor FROM web_session WHERE secret = ? AND expires_at_ms > ?"
        return try await store.first(live, [secret, now]) {
            WebCaller(session: $0.next(), account: $0.next(), programmer: $0.next(), requestor: $0.next())
        }
    }

    func endWebSession(_ secret: Digest) async throws(Fault) {
        try await store.change("DELETE FROM web_session WHERE secret = ?", [secret])
    }
}
