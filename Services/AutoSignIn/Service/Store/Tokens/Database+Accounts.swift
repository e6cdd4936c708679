internal import Clocks
internal import Storage

/// Statements about accounts, to be put together in one commit.
extension Database {
    func account(_ id: AccountID) throws -> AccountRecord? {
        let known = try first("SELECT \(AccountRecord.columns) FROM account WHERE id = ?", [id]) { AccountRecord(columns: &$0) }
        guard var account = known else { return nil }
        let logins: Statement = "SELECT mvpd, user_id FROM account_login WHERE account_id = ? ORDER BY attached_at_ms, mvpd, user_id"
        account.logins = try all(logins, [id]) { TVLogin(mvpd: $0.next(), userID: $0.next()) }
        return account
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
            "INSERT INTO account (\(AccountRecord.columns)) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            [
                account.id, account.programmer, account.createdAt, account.isLocked, account.closedAt, profile.givenName, profile.familyName,
                profile.email, profile.isEmailVerified, profile.isEmailPrivate,
            ])
        for login in account.logins { try attach(login, to: account.id, programmer: account.programmer, now: account.createdAt) }
    }

    /// Does nothing when the login opens an account already.
    /// - Returns: False when that is another one.
    @discardableResult
    func attach(_ login: TVLogin, to account: AccountID, programmer: ProgrammerID, now: Timestamp) throws -> Bool {
        if let holder = try accountID(of: login, programmer: programmer) { return holder == account }
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
    /// In the order in which they are read and written.
    fileprivate static let columns = """
        id, programmer, created_at_ms, is_locked, closed_at_ms, given_name, family_name, email, is_email_verified, is_email_private
        """

    fileprivate init(columns: inout ColumnReader) {
        self.init(
            id: columns.next(), programmer: columns.next(), createdAt: columns.next(), isLocked: columns.next(), closedAt: columns.next(),
            profile: AccountProfile(
                givenName: columns.next(), familyName: columns.next(), email: columns.next(), isEmailVerified: columns.next(),
                isEmailPrivate: columns.next()))
    }
}
