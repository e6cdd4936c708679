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
    /// An erased person's login opens no new account for this long: longer than any call is under way.
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
            for (condition, arguments) in places { rows += try self.exported(table, where: condition, arguments, most: most) }
            if rows.count >= most { hasMore = true }
            if !rows.isEmpty { told.append(PersonTable(name: table.name, rows: Array(rows.prefix(most)))) }
        }
        return (told, hasMore)
    }

    /// Ends everything of an account, and removes every row of it but what a letter to Apple still needs.
    /// - Returns: The number of families that ended.
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
        return ended
    }

    private func erase(_ family: FamilyRecord, _ touched: inout Touched, _ erasure: inout PersonErasureCount) throws {
        erasure.add(try run("DELETE FROM redemption WHERE family_id = ?", [family.id]), of: "redemption")
        erasure.add(try run("DELETE FROM security_event WHERE family_id = ?", [family.id]), of: "security_event")
        touched.families.insert(family.id)
        if try hasRow("SELECT 1 FROM outbox WHERE lane = ?", [OutboxLetter.partition(of: family.id)]) {
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
            try !hasRow("SELECT 1 FROM outbox WHERE lane = ? AND id <> ?", [letter.letter.partition, letter.id])
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

/// Values of a family follow each other in this way (apple §1.2).
extension Database {
    /// The value is on the account: it becomes the active one, and the one before is accepted for 72 hours more (I2).
    func activate(_ version: TokenVersionRecord, of family: FamilyRecord, _ touched: inout Touched, now: Timestamp) throws {
        for var other in try versions(of: family.id) where other.state == .active && other.id != version.id {
            other.state = .superseded
            other.supersededAt = now
            other.sealed = nil
            try update(other, of: family)
            touched.versions.insert(other.id)
        }
        var version = version
        version.state = .active
        version.activatedAt = now
        try update(version, of: family)
        touched.versions.insert(version.id)
    }

    /// Applies Apple's last word on an Update (apple §1.2, §1.3).
    func settleUpdate(
        of family: FamilyRecord, from old: TokenVersionRecord, to new: TokenVersionRecord, _ end: DeliveryEnd, _ touched: inout Touched,
        now: Timestamp
    ) throws {
        switch end {
        case .done where new.state == .pending: try activate(new, of: family, &touched, now: now)
        case .absent where new.state == .pending && old.state == .active:
            try drop(new, of: family, &touched)
            var (family, old) = (family, old)
            old.state = .revoked
            old.sealed = nil
            try update(old, of: family)
            touched.versions.insert(old.id)
            family.state = .absent
            family.idleAt = now + FamilyRecord.idleLimit
            try update(family)
            touched.families.insert(family.id)
        case .givenUp(isUnclear: false) where new.state == .pending:
            try drop(new, of: family, &touched)
            // The next try is not due for as long as an operator may want to look.
            try postponeRotation(old.id, to: now + .seconds(7 * 86_400))
        // After an unclear try both stay valid until a device shows the new one; and a device may have shown it already.
        case .assumed, .givenUp, .done, .absent: return
        }
    }

    private func drop(_ version: TokenVersionRecord, of family: FamilyRecord, _ touched: inout Touched) throws {
        var version = version
        version.state = .dropped
        try update(version, of: family)
        touched.versions.insert(version.id)
    }

    /// - Returns: False when a newer value is on its way already.
    func reopenUpdate(of family: FamilyRecord, to new: TokenVersionRecord, _ touched: inout Touched) throws -> Bool {
        if new.state == .pending { return true }
        guard new.state == .dropped, new.sealed != nil, try !versions(of: family.id).contains(where: { $0.state == .pending }) else { return false }
        var new = new
        new.state = .pending
        try update(new, of: family)
        touched.versions.insert(new.id)
        return true
    }
}

/// The tables that hold rows of people, as they are told.
enum HolderTables {
    /// Each table, and where the rows of these accounts and devices in it are.
    static func places(
        of accounts: [AccountID], _ devices: [DeviceID], _ database: Database
    ) throws -> [(ExportedTable, [(condition: String, arguments: Arguments)])] {
        func at<Value: ColumnValue>(_ column: String, _ values: [Value]) -> [(condition: String, arguments: Arguments)] {
            values.map { ("\(column) = ?", [$0]) }
        }
        let families = try accounts.flatMap { try database.families(of: $0) }.map(\.id)
        let links = try accounts.flatMap { try database.appleLinks(of: $0) }.map(\.id)
        // Rows of a device in the person's own families are there already.
        let elsewhere = devices.map { device -> (condition: String, arguments: Arguments) in
            let known = families.map { _ in "AND family_id <> ?" }.joined(separator: " ")
            return ("device_id = ? \(known)", [device] + Arguments(families.map(\.stored)))
        }
        return [
            (account, at("id", accounts)), (login, at("account_id", accounts)), (family, at("id", families)), (version, at("family_id", families)),
            (redemption, at("family_id", families) + elsewhere), (session, at("account_id", accounts)), (event, at("account_id", accounts)),
            (webLink, at("account_id", accounts)), (webSession, at("account_id", accounts)), (link, at("id", links)),
            (consent, at("link_id", links)), (grant, at("link_id", links)), (transfer, at("account_id", accounts)),
        ]
    }

    private static let account = ExportedTable(
        "account",
        [
            .text("id"), .text("programmer"), .number("created_at_ms"), .number("is_locked"), .number("closed_at_ms"), .text("given_name"),
            .text("family_name"), .text("email"), .number("is_email_verified"), .number("is_email_private"),
        ])
    private static let login = ExportedTable(
        "account_login", [.text("programmer"), .text("mvpd"), .text("user_id"), .text("account_id"), .number("attached_at_ms")])
    private static let family = ExportedTable(
        "family",
        [
            .text("id"), .text("account_id"), .text("programmer"), .text("bundle_id"), .number("environment"), .number("state"), .text("link_id"),
            .text("device_id"), .text("device_label"), .number("created_at_ms"), .number("last_used_at_ms"), .number("idle_at_ms"),
            .number("revoked_at_ms"), .text("reason"), .number("forget_at_ms"),
        ])
    private static let version = ExportedTable(
        "token_version",
        [
            .text("id"), .text("family_id"), .number("number"), .digest("comparison"), .sealed("sealed"), .number("state"),
            .number("created_at_ms"), .number("activated_at_ms"), .number("rotate_at_ms"), .number("superseded_at_ms"), .number("forget_at_ms"),
        ])
    private static let redemption = ExportedTable(
        "redemption",
        [
            .text("family_id"), .text("device_id"), .digest("address_hash"), .text("outcome"), .number("at_ms"), .number("expires_at_ms"),
        ])
    private static let session = ExportedTable(
        "streaming_session",
        [
            .text("id"), .text("account_id"), .text("programmer"), .text("requestor"), .text("device_id"), .text("device_label"),
            .text("client_id"), .text("family_id"), .text("link_id"), .text("apple_client_id"), .text("scopes"), .number("has_tv_session"),
            .number("created_at_ms"), .number("last_used_at_ms"), .number("expires_at_ms"),
        ])
    private static let event = ExportedTable(
        "security_event",
        [
            .text("kind"), .number("at_ms"), .text("family_id"), .text("account_id"), .text("requestor"), .number("expires_at_ms"),
            .number("number"),
        ])
    private static let webLink = ExportedTable(
        "web_link", [.text("account_id"), .digest("handle"), .text("programmer"), .text("requestor"), .number("expires_at_ms")])
    private static let webSession = ExportedTable(
        "web_session", [.text("account_id"), .digest("secret"), .text("programmer"), .text("requestor"), .number("expires_at_ms")])
    private static let link = ExportedTable(
        "apple_link",
        [
            .text("id"), .text("programmer"), .text("team"), .text("subject"), .text("account_id"), .number("real_user_status"),
            .number("is_mail_allowed"), .number("mail_changed_at_ms"), .number("created_at_ms"), .number("authorized_at_ms"),
        ])
    private static let consent = ExportedTable(
        "apple_consent", [.text("link_id"), .text("group_id"), .number("authorized_at_ms"), .number("revoked_at_ms")])
    private static let grant = ExportedTable(
        "apple_grant",
        [
            .text("link_id"), .text("client_id"), .text("group_id"), .sealed("sealed"), .number("validated_at_ms"), .number("next_check_at_ms"),
            .number("unclear_since_ms"),
        ])
    private static let transfer = ExportedTable(
        "apple_transfer", [.text("team"), .text("transfer_subject"), .text("programmer"), .text("account_id"), .number("accepted_at_ms")])
}
