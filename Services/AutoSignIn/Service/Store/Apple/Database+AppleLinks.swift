internal import Clocks
internal import Storage

/// Statements about links, to be put together in one commit with what they are about.
extension Database {
    func appleLink(_ id: AppleLinkID) throws -> AppleLinkRecord? { try appleLinks("id = ?", [id]).first }

    func appleLink(team: AppleTeamID, subject: String) throws -> AppleLinkRecord? {
        try appleLinks("team = ? AND subject = ?", [team, subject]).first
    }

    func appleLinks(of account: AccountID) throws -> [AppleLinkRecord] { try appleLinks("account_id = ?", [account]) }

    private func appleLinks(_ condition: String, _ arguments: StatementArguments) throws -> [AppleLinkRecord] {
        let statement = try cachedStatement(sql: "SELECT * FROM apple_link WHERE \(condition) ORDER BY created_at_ms, id")
        var links = try Row.fetchAll(statement, arguments: arguments).map(AppleLinkRecord.init(row:))
        for index in links.indices { links[index].consents = try appleConsents(of: links[index].id) }
        return links
    }

    private func appleConsents(of link: AppleLinkID) throws -> [String: AppleConsent] {
        let rows = try Row.fetchAll(cachedStatement(sql: "SELECT * FROM apple_consent WHERE link_id = ?"), arguments: [link])
        let pairs = rows.map { row in
            (row["group_id"] as String, AppleConsent(authorizedAt: row["authorized_at_ms"], revokedAt: row["revoked_at_ms"]))
        }
        return Dictionary(pairs) { first, _ in first }
    }

    /// A new link, or what is new about one.
    func put(_ link: AppleLinkRecord) throws {
        let sql = """
            INSERT INTO apple_link (id, programmer, team, subject, account_id, real_user_status, is_mail_allowed, mail_changed_at_ms, created_at_ms,
                authorized_at_ms)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT (id) DO UPDATE SET real_user_status = excluded.real_user_status, is_mail_allowed = excluded.is_mail_allowed,
                mail_changed_at_ms = excluded.mail_changed_at_ms, authorized_at_ms = excluded.authorized_at_ms
            """
        try cachedStatement(sql: sql).execute(arguments: [
            link.id, link.programmer, link.team, link.subject, link.account, link.realUserStatus?.rawValue, link.mail.isAllowed,
            link.mail.changedAt, link.createdAt, link.authorizedAt,
        ])
        for (group, consent) in link.consents {
            let sql = "INSERT OR REPLACE INTO apple_consent (link_id, group_id, authorized_at_ms, revoked_at_ms) VALUES (?, ?, ?, ?)"
            try cachedStatement(sql: sql).execute(arguments: [link.id, group, consent.authorizedAt, consent.revokedAt])
        }
    }

    /// Forgets the link; what Apple gave for it must have been dealt with before.
    func remove(_ link: AppleLinkID) throws {
        try cachedStatement(sql: "DELETE FROM apple_consent WHERE link_id = ?").execute(arguments: [link])
        try cachedStatement(sql: "DELETE FROM apple_link WHERE id = ?").execute(arguments: [link])
    }
}

extension AppleLinkRecord {
    fileprivate init(row: Row) {
        self.init(
            id: row["id"], programmer: row["programmer"], team: row["team"], subject: row["subject"], account: row["account_id"],
            realUserStatus: (row["real_user_status"] as Int64?).flatMap(RealUserStatus.init),
            mail: MailForwarding(isAllowed: row["is_mail_allowed"], changedAt: row["mail_changed_at_ms"]), createdAt: row["created_at_ms"],
            authorizedAt: row["authorized_at_ms"])
    }
}
