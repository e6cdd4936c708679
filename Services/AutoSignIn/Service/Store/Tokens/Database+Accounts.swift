internal import Clocks
internal import Storage

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
    /// Of the programmer, by one of its logins.
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
