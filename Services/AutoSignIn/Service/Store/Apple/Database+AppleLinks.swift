internal import Clocks
internal import Storage

/// Statements about links, to be put together in one commit with what they are about.
extension Database {
    func appleLink(_ id: AppleLinkID) throws -> AppleLinkRecord? { try appleLinks("id = ?", [id]).first }

    func appleLink(team: AppleTeamID, subject: String) throws -> AppleLinkRecord? {
        try appleLinks("team = ? AND subject = ?", [team, subject]).first
    }

    func appleLinks(of account: AccountID) throws -> [AppleLinkRecord] { try appleLinks("account_id = ?", [account]) }

    private func appleLinks(_ condition: String, _ arguments: Arguments) throws -> [AppleLinkRecord] {
        let found: Statement = "SELECT \(AppleLinkRecord.columns) FROM apple_link WHERE \(condition) ORDER BY created_at_ms, id"
        var links = try all(found, arguments) { AppleLinkRecord(columns: &$0) }
        for index in links.indices { links[index].consents = try appleConsents(of: links[index].id) }
        return links
    }

    private func appleConsents(of link: AppleLinkID) throws -> [String: AppleConsent] {
        let pairs = try all("SELECT group_id, authorized_at_ms, revoked_at_ms FROM apple_consent WHERE link_id = ?", [link]) {
            ($0.next() as String, AppleConsent(authorizedAt: $0.next(), revokedAt: $0.next()))
        }
        return Dictionary(pairs) { first, _ in first }
    }

    /// A new link, or what is new about one.
    func put(_ link: AppleLinkRecord) throws {
        let insert: Statement = """
            INSERT INTO apple_link (\(AppleLinkRecord.columns)) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT (id) DO UPDATE SET real_user_status = excluded.real_user_status, is_mail_allowed = excluded.is_mail_allowed,
                mail_changed_at_ms = excluded.mail_changed_at_ms, authorized_at_ms = excluded.authorized_at_ms
            """
        try run(
            insert,
            [
                link.id, link.programmer, link.team, link.subject, link.account, link.realUserStatus?.rawValue, link.mail.isAllowed,
                link.mail.changedAt, link.createdAt, link.authorizedAt,
            ])
        for (group, consent) in link.consents {
            try run(
                """
                INSERT INTO apple_consent (link_id, group_id, authorized_at_ms, revoked_at_ms) VALUES (?, ?, ?, ?)
                ON CONFLICT (link_id, group_id) DO UPDATE SET authorized_at_ms = excluded.authorized_at_ms, revoked_at_ms = excluded.revoked_at_ms
                """, [link.id, group, consent.authorizedAt, consent.revokedAt])
        }
    }

    /// Forgets the link; what Apple gave for it must have been dealt with before.
    func remove(_ link: AppleLinkID) throws {
        try run("DELETE FROM apple_consent WHERE link_id = ?", [link])
        try run("DELETE FROM apple_link WHERE id = ?", [link])
    }
}

extension AppleLinkRecord {
    /// In the order in which they are read and written.
    fileprivate static let columns = """
        id, programmer, team, subject, account_id, real_user_status, is_mail_allowed, mail_changed_at_ms, created_at_ms, authorized_at_ms
        """

    fileprivate init(columns: inout ColumnReader) {
        self.init(
            id: columns.next(), programmer: columns.next(), team: columns.next(), subject: columns.next(), account: columns.next(),
            realUserStatus: (columns.next() as Int64?).flatMap(RealUserStatus.init),
            mail: MailForwarding(isAllowed: columns.next(), changedAt: columns.next()), createdAt: columns.next(), authorizedAt: columns.next())
    }
}
