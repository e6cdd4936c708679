internal import Clocks
internal import Storage

/// Statements about accounts, to be put together in one commit.
extension Database {
    func account(_ id: AccountID) throws -> AccountRecord? {
        let sql = "SELECT \(AccountRecord.columns) FROM account WHERE id = ?"
        guard var account = try first(sql, arguments: [id], { AccountRecord(columns: &$0) }) else { return nil }
        let logins = "SELECT mvpd, user_id FROM account_login WHERE account_id = ? ORDER BY attached_at_ms, mvpd, user_id"
        account.logins = try all(logins, arguments: [id]) { TVLogin(mvpd: $0.next(), userID: $0.next()) }
        return account
    }

    func accountID(of login: TVLogin, programmer: ProgrammerID) throws -> AccountID? {
        let statement = try cachedStatement(sql: "SELECT account_id FROM account_login WHERE programmer = ? AND mvpd = ? AND user_id = ?")
        return try AccountID.fetchOne(statement, arguments: [programmer, login.mvpd, login.userID])
    }

    /// Accounts of the programmer with that e-mail, as Apple spells it but for letter case; closed ones have none.
    func accountIDs(email: String, programmer: ProgrammerID) throws -> [AccountID] {
        let statement = try cachedStatement(sql: "SELECT id FROM account WHERE programmer = ? AND email = ? COLLATE NOCASE ORDER BY created_at_ms")
        return try AccountID.fetchAll(statement, arguments: [programmer, email])
    }

    /// Also attaches its logins, which must be free.
    func insert(_ account: AccountRecord) throws {
        let sql = """
            INSERT INTO account (\(AccountRecord.columns))
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """
        let profile = account.profile
        try cachedStatement(sql: sql).execute(arguments: [
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
        let sql = "INSERT INTO account_login (programmer, mvpd, user_id, account_id, attached_at_ms) VALUES (?, ?, ?, ?, ?)"
        try cachedStatement(sql: sql).execute(arguments: [programmer, login.mvpd, login.userID, account, now])
        return true
    }

    func setProfile(_ profile: AccountProfile, of account: AccountID) throws {
        let sql = """
            UPDATE account SET given_name = ?, family_name = ?, email = ?, is_email_verified = ?, is_email_private = ? WHERE id = ?
            """
        try cachedStatement(sql: sql).execute(arguments: [
            profile.givenName, profile.familyName, profile.email, profile.isEmailVerified, profile.isEmailPrivate, account,
        ])
    }

    func setLock(_ account: AccountID, _ isLocked: Bool) throws -> Bool {
        try cachedStatement(sql: "UPDATE account SET is_locked = ? WHERE id = ? AND closed_at_ms IS NULL").execute(arguments: [isLocked, account])
        return changesCount == 1
    }

    /// Forgets the person; the row stays, so that the id is never given out again.
    func close(_ account: AccountID, now: Timestamp) throws {
        try setProfile(AccountProfile(), of: account)
        try cachedStatement(sql: "UPDATE account SET closed_at_ms = ? WHERE id = ?").execute(arguments: [now, account])
        try cachedStatement(sql: "DELETE FROM account_login WHERE account_id = ?").execute(arguments: [account])
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
