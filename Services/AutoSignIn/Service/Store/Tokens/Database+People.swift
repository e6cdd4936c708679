internal import Clocks
internal import Contracts
internal import Cryptography
internal import Faults
internal import Storage

/// Statements by which a person's rows are found: each stands on an index.
enum HolderStatements {
    static let accountsOfLogin = "SELECT account_id FROM account_login WHERE mvpd = ? AND user_id = ?"
    static let accountsOfDevice = """
        SELECT account_id FROM streaming_session WHERE device_id = ? UNION SELECT account_id FROM family WHERE device_id = ?
        """

    /// For a test of their plans.
    static let all = [accountsOfLogin, accountsOfDevice]
}

extension Database {
    /// How long an erased person's login opens no new account: longer than any call is under way.
    private static var erasedMemory: Duration { .seconds(60) }

    private static func subject(_ login: TVLogin) -> String { Hex.encode(SHA256.hash("person\n\(login.mvpd.text)\n\(login.userID)")) }

    /// An account that is found by a device alone counts where it is nobody else's: without a login, or where no login is known.
    func accounts(of query: HolderQuery) throws -> [AccountRecord] {
        var ids: Set<AccountID> = []
        for login in query.logins { ids.formUnion(try values(Statement(HolderStatements.accountsOfLogin), [login.mvpd, login.userID])) }
        var byDevice: Set<AccountID> = []
        for device in query.devices { byDevice.formUnion(try values(Statement(HolderStatements.accountsOfDevice), [device, device])) }
        let known = try ids.union(byDevice).compactMap { try account($0) }
        return known.filter { ids.contains($0.id) || $0.logins.isEmpty || query.logins.isEmpty }.sorted { $0.id.text < $1.id.text }
    }

    /// Every row of these accounts and devices.
    func told(_ accounts: [AccountRecord], _ query: HolderQuery) throws -> (tables: [PersonTable], hasMore: Bool) {
        let most = 10_000
        var (told, hasMore): ([PersonTable], Bool) = ([], false)
        for (table, places) in try HolderTables.places(of: accounts.map(\.id), query.devices, self) {
            var rows: [String] = []
            for (condition, arguments) in places { rows += try self.told(table, where: condition, arguments, most: most) }
            if rows.count >= most { hasMore = true }
            if !rows.isEmpty { told.append(PersonTable(name: table.name, rows: Array(rows.prefix(most)))) }
        }
        return (told, hasMore)
    }

    /// Ends everything of an account, and removes every row of it but what a letter to Apple still needs.
    /// - Returns: How many families ended.
    @discardableResult
    func erase(
        _ account: AccountRecord, _ apple: AppleOperations, _ touched: inout Touched, _ erasure: inout PersonErasureCount, now: Timestamp
    ) throws -> Int {
        erasure.add(account.logins.count, of: "account_login")
        erasure.add(try sessions(of: account.id).count, of: "streaming_session")
        let links = try appleLinks(of: account.id)
        erasure.add(links.count, of: "apple_link")
        for link in links {
            let grants: [Int64] = try values("SELECT 1 FROM apple_grant WHERE link_id = ?", [link.id])
            erasure.add(grants.count, of: "apple_grant")
            erasure.add(link.consents.count, of: "apple_consent")
        }
        let ended = try close(account, apple, &touched, now: now).count
        for family in try families(of: account.id) { try erase(family, &touched, &erasure) }
        erasure.add(try run("DELETE FROM security_event WHERE account_id = ?", [account.id]), of: "security_event")
        erasure.add(try run("DELETE FROM account WHERE id = ?", [account.id]), of: "account")
        touched.accounts.insert(account.id)
        return ended
    }

    private func erase(_ family: FamilyRecord, _ touched: inout Touched, _ erasure: inout PersonErasureCount) throws {
        erasure.add(try run("DELETE FROM redemption WHERE family_id = ?", [family.id]), of: "redemption")
        erasure.add(try run("DELETE FROM security_event WHERE family_id = ?", [family.id]), of: "security_event")
        touched.families.insert(family.id)
        if try hasRow("SELECT 1 FROM outbox WHERE lane = ?", [OutboxLetter.lane(of: family.id)]) {
            try run("UPDATE family SET device_id = '', device_label = '', account_id = '' WHERE id = ?", [family.id])
            erasure.keptFamilies += 1
        } else {
            for version in try versions(of: family.id) { touched.versions.insert(version.id) }
            erasure.add(try run("DELETE FROM token_version WHERE family_id = ?", [family.id]), of: "token_version")
            erasure.add(try run("DELETE FROM family WHERE id = ?", [family.id]), of: "family")
        }
    }

    /// Removes what was left of an erased person's family for its letters, once the last of them is delivered.
    func removeIfErased(_ family: FamilyRecord, besides letter: OutboxItem, _ touched: inout Touched) throws {
        guard family.device.text.isEmpty, family.account.text.isEmpty,
            try !hasRow("SELECT 1 FROM outbox WHERE lane = ? AND id <> ?", [letter.letter.lane, letter.id])
        else { return }
        for version in try versions(of: family.id) { touched.versions.insert(version.id) }
        try run("DELETE FROM token_version WHERE family_id = ?", [family.id])
        try run("DELETE FROM family WHERE id = ?", [family.id])
        touched.families.insert(family.id)
    }

    func noteErased(_ login: TVLogin, now: Timestamp) throws {
        try run(
            """
            INSERT INTO erased (subject, erased_at_ms, expires_at_ms) VALUES (?, ?, ?)
            ON CONFLICT (subject) DO UPDATE SET erased_at_ms = excluded.erased_at_ms, expires_at_ms = excluded.expires_at_ms
            """, [Self.subject(login), now, now + Self.erasedMemory])
    }

    /// - Throws: `session_not_fresh`.
    func requireNotErased(_ login: TVLogin, now: Timestamp) throws {
        guard try hasRow("SELECT 1 FROM erased WHERE subject = ? AND expires_at_ms > ?", [Self.subject(login), now]) else { return }
        throw Fault(.sessionNotFresh, "The person was erased a moment ago: sign in again, then ask once more in a minute.")
    }
}
