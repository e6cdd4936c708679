internal import Clocks
internal import Faults
internal import Identifiers
internal import Storage
internal import Synchronization

/// Statements about accounts, to be put together in one commit.
extension Database {
    func account(_ id: AccountID) throws -> AccountRecord? {
        AccountRecord(rows: try all(AccountRecord.withLogins, [id]) { AccountRecord.row(&$0) })
    }

    func accountID(of login: TVLogin, programmer: ProgrammerID) throws -> AccountID? {
        try value(
            "SELECT account_id FROM account_login WHERE programmer = ? AND mvpd = ? AND user_id = ?", [programmer, login.mvpd, login.userID])
    }

    /// Accounts of the programmer with that e-mail, as Apple spells it but for letter case; closed ones have none.
    func accountIDs(email: String, programmer: ProgrammerID) throws -> [AccountID] {
        try values(
            "SELECT id FROM account WHERE programmer = ? AND lower(email) = lower(?) AND email IS NOT NULL ORDER BY created_at_ms",
            [programmer, email])
    }

    /// Also attaches its logins, which must be free.
    func insert(_ account: AccountRecord) throws {
        let profile = account.profile
        try run(
            """
            INSERT INTO account (id, programmer, created_at_ms, is_locked, closed_at_ms, given_name, family_name, email, is_email_verified,
                is_email_private)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            [
                account.id, account.programmer, account.createdAt, account.isLocked, account.closedAt, profile.givenName, profile.familyName,
                profile.email, profile.isEmailVerified, profile.isEmailPrivate,
            ])
        for login in account.logins { try attach(login, to: account.id, programmer: account.programmer, now: account.createdAt) }
    }

    /// Does nothing when the login opens an account already.
    /// - Returns: False when that is another one.
    /// - Throws: `session_not_fresh` when its person was erased a moment ago.
    @discardableResult
    func attach(_ login: TVLogin, to account: AccountID, programmer: ProgrammerID, now: Timestamp) throws -> Bool {
        if let holder = try accountID(of: login, programmer: programmer) { return holder == account }
        try requireNotErased(login, now: now)
        try run(
            "INSERT INTO account_login (programmer, mvpd, user_id, account_id, attached_at_ms) VALUES (?, ?, ?, ?, ?)",
            [programmer, login.mvpd, login.userID, account, now])
        return true
    }

    func setProfile(_ profile: AccountProfile, of account: AccountID) throws {
        try run(
            "UPDATE account SET given_name = ?, family_name = ?, email = ?, is_email_verified = ?, is_email_private = ? WHERE id = ?",
            [profile.givenName, profile.familyName, profile.email, profile.isEmailVerified, profile.isEmailPrivate, account])
    }

    func setLock(_ account: AccountID, _ isLocked: Bool) throws -> Bool {
        try run("UPDATE account SET is_locked = ? WHERE id = ? AND closed_at_ms IS NULL", [isLocked, account]) == 1
    }

    /// Forgets the person; the row stays, so that the id is never given out again.
    func close(_ account: AccountID, now: Timestamp) throws {
        try setProfile(AccountProfile(), of: account)
        try run("UPDATE account SET closed_at_ms = ? WHERE id = ?", [now, account])
        try run("DELETE FROM account_login WHERE account_id = ?", [account])
    }
}

extension AccountRecord {
    /// One row for each login, and one for an account without any, so that one statement reads an account whole.
    private static let selection = """
        SELECT account.id, account.programmer, account.created_at_ms, account.is_locked, account.closed_at_ms, account.given_name, \
        account.family_name, account.email, account.is_email_verified, account.is_email_private, login.mvpd, login.user_id FROM account \
        LEFT JOIN account_login AS login ON login.account_id = account.id
        """
    private static let order = "ORDER BY login.attached_at_ms, login.mvpd, login.user_id"
    static let withLogins: Statement = "\(selection) WHERE account.id = ? \(order)"
    /// The programmer's account, by one of its logins.
    static let ofLogin: Statement = """
        \(selection) WHERE account.id = (SELECT account_id FROM account_login WHERE programmer = ? AND mvpd = ? AND user_id = ?) \(order)
        """

    static func row(_ columns: inout ColumnReader) -> (account: AccountRecord, login: TVLogin?) {
        let account = AccountRecord(columns: &columns)
        let (mvpd, user): (MvpdID?, String?) = (columns.next(), columns.next())
        return (account, mvpd.flatMap { mvpd in user.map { TVLogin(mvpd: mvpd, userID: $0) } })
    }

    /// - Returns: `nil` when there are none.
    init?(rows: [(account: AccountRecord, login: TVLogin?)]) {
        guard let first = rows.first else { return nil }
        self = first.account
        logins = rows.compactMap(\.login)
    }

    fileprivate init(columns: inout ColumnReader) {
        self.init(
            id: columns.next(), programmer: columns.next(), createdAt: columns.next(), isLocked: columns.next(), closedAt: columns.next(),
            profile: AccountProfile(
                givenName: columns.next(), familyName: columns.next(), email: columns.next(), isEmailVerified: columns.next(),
                isEmailPrivate: columns.next()))
    }
}

/// Statements about answers that are kept for a repeated call.
extension Database {
    /// - Returns: False when an answer that still counts is there: somebody else's call had the effect.
    func keep(_ answer: SealedBytes, request: Digest, at place: Digest, now: Timestamp, until: Timestamp) throws -> Bool {
        let claim: Statement = """
            INSERT INTO idempotency (place, request, answer, expires_at_ms) VALUES (?, ?, ?, ?)
            ON CONFLICT (place) DO UPDATE SET request = excluded.request, answer = excluded.answer, expires_at_ms = excluded.expires_at_ms
            WHERE idempotency.expires_at_ms <= ?
            """
        return try run(claim, [place, request, answer, until, now]) == 1
    }
}

extension AutoSignInStore {
    /// - Throws: Faults of the storage.
    func keptAnswer(_ place: Digest, now: Timestamp) async throws(Fault) -> (request: Digest, answer: SealedBytes)? {
        try await store.first("SELECT request, answer FROM idempotency WHERE place = ? AND expires_at_ms > ?", [place, now]) {
            ($0.next(), $0.next())
        }
    }
}

extension IdempotentPlace {
    /// Takes the place for a call that has no answer to keep. Changes one row, or none when the key came with another request.
    func claim(now: Timestamp) -> BoundStatement {
        BoundStatement(
            """
            INSERT INTO idempotency (place, request, answer, expires_at_ms) VALUES (?, ?, ?, ?)
            ON CONFLICT (place) DO UPDATE SET request = excluded.request, answer = excluded.answer, expires_at_ms = excluded.expires_at_ms
            WHERE idempotency.expires_at_ms <= ? OR idempotency.request = excluded.request
            """, [digest, request, SealedBytes(bytes: []), now + Idempotency.memory, now])
    }
}

/// Statements about security events.
extension Database {
    func insert(_ event: SecurityEventRecord) throws {
        try run(
            """
            INSERT INTO security_event (at_ms, kind, family_id, account_id, requestor, expires_at_ms, number)
            VALUES (?, ?, ?, ?, ?, ?, ?)
            """,
            [
                event.at, event.kind.name, event.family?.text ?? "", event.account?.text ?? "", event.requestor?.text ?? "",
                event.at + SecurityEventRecord.memory, SecurityEventRecord.number.add(1, ordering: .relaxed).newValue,
            ])
    }

    /// Latest first.
    func securityEvents(limit: Int) throws -> [SecurityEventRecord] {
        try all(
            "SELECT family_id, account_id, requestor, at_ms, kind FROM security_event ORDER BY at_ms DESC, number DESC LIMIT ?", [limit]
        ) { SecurityEventRecord(columns: &$0) }
    }
}

extension SecurityEventRecord {
    /// Tells events of one millisecond apart in the order of this copy, without a look at those of others.
    fileprivate static let number = Atomic<Int64>(0)

    fileprivate init(columns: inout ColumnReader) {
        func id<Subject>(_ text: String) -> Identifier<Subject>? { text.isEmpty ? nil : Identifier(text) }
        let (family, account, requestor): (String, String, String) = (columns.next(), columns.next(), columns.next())
        self.init(
            at: columns.next(), kind: SecurityEventKind(name: columns.next()), family: id(family), account: id(account), requestor: id(requestor))
    }
}

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
