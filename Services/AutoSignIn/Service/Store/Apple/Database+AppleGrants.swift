internal import Clocks
internal import Contracts
internal import Storage

/// Statements about refresh tokens.
extension Database {
    func appleGrants(of link: AppleLinkID) throws -> [AppleGrantRecord] {
        try all("SELECT \(AppleGrantRecord.columns) FROM apple_grant WHERE link_id = ? ORDER BY client_id", [link]) { AppleGrantRecord(columns: &$0) }
    }

    /// In place of an earlier one of the same client id.
    func put(_ grant: AppleGrantRecord) throws {
        try run(
            """
            INSERT INTO apple_grant (\(AppleGrantRecord.columns)) VALUES (?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT (link_id, client_id) DO UPDATE SET group_id = excluded.group_id, sealed = excluded.sealed,
                validated_at_ms = excluded.validated_at_ms, next_check_at_ms = excluded.next_check_at_ms,
                unclear_since_ms = excluded.unclear_since_ms
            """, [grant.link, grant.client, grant.group, grant.sealed, grant.validatedAt, grant.nextCheckAt, grant.unclearSince])
    }

    /// Notes what a check came to, unless the token was replaced meanwhile.
    func note(_ grant: AppleGrantRecord) throws {
        try run(
            """
            UPDATE apple_grant SET validated_at_ms = ?, next_check_at_ms = ?, unclear_since_ms = ? WHERE link_id = ? AND client_id = ? AND sealed = ?
            """, [grant.validatedAt, grant.nextCheckAt, grant.unclearSince, grant.link, grant.client, grant.sealed])
    }

    func remove(_ grant: AppleGrantRecord) throws {
        try run("DELETE FROM apple_grant WHERE link_id = ? AND client_id = ? AND sealed = ?", [grant.link, grant.client, grant.sealed])
    }

    /// Takes the tokens out and has Apple end each, by its own client id (apple §2.5).
    func revokeGrants(of link: AppleLinkRecord, now: Timestamp) throws {
        for grant in try appleGrants(of: link.id) {
            let letter = try AppleRevocation(team: link.team, client: grant.client, sealed: grant.sealed).letter(link.id)
            try enqueue(letter, programmer: link.programmer, now: now)
            try remove(grant)
        }
    }

    /// Erases those of a group of apps; Apple has ended them already.
    func eraseGrants(of link: AppleLinkID, group: String?) throws {
        for grant in try appleGrants(of: link) where group == nil || grant.group == group { try remove(grant) }
    }

    /// Keeps others from making the same check until the lease is over.
    /// - Returns: False when somebody else makes it, or it is not due any more.
    func claim(_ grant: AppleGrantRecord, until lease: Timestamp) throws -> Bool {
        try run(
            "UPDATE apple_grant SET next_check_at_ms = ? WHERE link_id = ? AND client_id = ? AND sealed = ? AND next_check_at_ms = ?",
            [lease, grant.link, grant.client, grant.sealed, grant.nextCheckAt]) == 1
    }

    /// Links with a token that is due, of accounts with a live session (apple §2.5).
    func linksToCheck(now: Timestamp, limit: Int) throws -> [AppleLinkID] {
        let due: Statement = """
            SELECT DISTINCT apple_grant.link_id FROM apple_grant JOIN apple_link ON apple_link.id = apple_grant.link_id
            WHERE apple_grant.next_check_at_ms <= ?1 AND EXISTS (
                SELECT 1 FROM streaming_session AS session
                WHERE session.account_id = apple_link.account_id AND session.expires_at_ms > ?1 AND session.last_used_at_ms > ?2)
            LIMIT ?3
            """
        return try values(due, [now, now - StreamingSessionRecord.idleLimit, limit])
    }
}

extension AppleGrantRecord {
    /// In the order in which they are read and written.
    fileprivate static let columns = "link_id, client_id, group_id, sealed, validated_at_ms, next_check_at_ms, unclear_since_ms"

    fileprivate init(columns: inout ColumnReader) {
        self.init(
            link: columns.next(), client: columns.next(), group: columns.next(), sealed: columns.next(), validatedAt: columns.next(),
            nextCheckAt: columns.next(), unclearSince: columns.next())
    }
}

/// The ends of what a person allowed, each in the commit that needs it.
extension Database {
    /// The person, or an operator, takes a link away: Apple hears of it through the outbox (apple §2.5).
    func withdraw(_ link: AppleLinkRecord, _ touched: inout Touched, now: Timestamp) throws {
        try revokeGrants(of: link, now: now)
        try endWhatCame(from: link, through: nil, &touched, now: now)
    }

    /// Apple says that a consent is over: of one group of apps, or of all (apple §2.9). Its tokens are void already.
    /// - Parameter group: `nil`: every one.
    func consentEnded(_ link: AppleLinkRecord, group: AppleAppGroup?, _ touched: inout Touched, now: Timestamp) throws {
        var link = link
        for (name, consent) in link.consents where (group == nil || group?.id == name) && consent.revokedAt == nil {
            link.consents[name] = AppleConsent(authorizedAt: consent.authorizedAt, revokedAt: now)
        }
        try put(link)
        try eraseGrants(of: link.id, group: group?.id)
        try endWhatCame(from: link, through: group?.clients, &touched, now: now)
    }

    /// Ends the sessions that were made from the link, and the families of the devices that came in by them.
    /// - Parameter clients: `nil`: whichever client ids they came through.
    func endWhatCame(from link: AppleLinkRecord, through clients: [AppleClientID]?, _ touched: inout Touched, now: Timestamp) throws {
        let ended = try sessions(of: link.account).filter { session in
            guard case .apple(link.id, let client) = session.origin else { return false }
            return clients?.contains(client) ?? true
        }
        let devices = Set(ended.map(\.device))
        for family in try families(of: link.account) where clients?.contains(family.bundleID) ?? true {
            guard family.link == link.id || devices.contains(family.device) else { continue }
            try revoke(family.id, .appleLink, &touched, now: now)
        }
        try end(ended, now: now)
        touched.sessions.formUnion(ended.map(\.id))
    }
}

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
