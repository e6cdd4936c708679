internal import Clocks
internal import Contracts
internal import Storage

/// Statements about sessions, to be put together in one commit.
extension Database {
    func session(_ id: StreamingSessionID) throws -> StreamingSessionRecord? {
        try first(StreamingSessionRecord.byID, [id]) { StreamingSessionRecord(columns: &$0) }
    }

    func sessions(of account: AccountID) throws -> [StreamingSessionRecord] {
        try all(StreamingSessionRecord.ofAccount, [account]) { StreamingSessionRecord(columns: &$0) }
    }

    func sessions(of family: FamilyID) throws -> [StreamingSessionRecord] {
        try sessions("family_id = ?", [family])
    }

    /// The sessions of an Apple link that were made through one of the client ids.
    func sessions(of link: AppleLinkID, clients: [AppleClientID]) throws -> [StreamingSessionRecord] {
        try sessions("link_id = ?", [link]).filter { session in
            if case .apple(_, let client) = session.origin { clients.contains(client) } else { false }
        }
    }

    /// Newest first.
    /// - Parameter condition: SQL of this program.
    func sessions(_ condition: String, _ arguments: Arguments) throws -> [StreamingSessionRecord] {
        try all("SELECT \(StreamingSessionRecord.columns) FROM streaming_session WHERE \(condition) ORDER BY created_at_ms DESC, id", arguments) {
            StreamingSessionRecord(columns: &$0)
        }
    }

    /// In place of the session that the device had at the requestor.
    /// - Returns: The sessions that it replaces; `authentication` replaces their authn tokens by itself.
    @discardableResult
    func put(_ session: StreamingSessionRecord) throws -> [StreamingSessionID] {
        let before: [StreamingSessionID] = try values(
            "DELETE FROM streaming_session WHERE device_id = ? AND requestor = ? RETURNING id", [session.device, session.requestor])
        try run(session.insert)
        return before
    }

    /// Ends sessions here at once, and their authn tokens through the outbox.
    func end(_ sessions: [StreamingSessionRecord], now: Timestamp) throws {
        for session in sessions {
            try run("DELETE FROM streaming_session WHERE id = ?", [session.id])
        }
        let tokens = sessions.filter(\.hasTVSession).map(\.id)
        guard let first = sessions.first, !tokens.isEmpty else { return }
        try enqueue(.endSessions(tokens), programmer: first.programmer, now: now)
    }

    /// Sessions that nobody has used for 30 days.
    func idleSessions(now: Timestamp, limit: Int) throws -> [StreamingSessionRecord] {
        let idle: Statement = "SELECT \(StreamingSessionRecord.columns) FROM streaming_session WHERE last_used_at_ms <= ? LIMIT ?"
        return try all(idle, [now - StreamingSessionRecord.idleLimit, limit]) { StreamingSessionRecord(columns: &$0) }
    }
}

extension StreamingSessionRecord {
    /// In the order in which they are read and written.
    fileprivate static let columns = """
        id, account_id, programmer, requestor, device_id, device_label, client_id, family_id, link_id, apple_client_id, scopes, has_tv_session, \
        created_at_ms, last_used_at_ms, expires_at_ms
        """

    static let byID: Statement = "SELECT \(columns) FROM streaming_session WHERE id = ?"
    static let withoutTV: Statement = """
        SELECT \(columns) FROM streaming_session WHERE device_id = ? AND requestor = ? AND client_id = ? AND has_tv_session = 0
        ORDER BY created_at_ms DESC, id LIMIT 1
        """
    static let ofAccount: Statement = "SELECT \(columns) FROM streaming_session WHERE account_id = ? ORDER BY created_at_ms DESC, id"
    /// By its id, as long as what a value's verdict hangs on is as it was.
    static let whileStanding: Statement = """
        SELECT \(columns) FROM streaming_session WHERE streaming_session.id = ? AND EXISTS (\(TokenVersionRecord.standing))
        """

    /// Makes room for it: removes the session that the device had at the requestor.
    var replace: BoundStatement { BoundStatement("DELETE FROM streaming_session WHERE device_id = ? AND requestor = ?", [device, requestor]) }

    var insert: BoundStatement {
        let (link, appleClient): (AppleLinkID?, AppleClientID?) = if case .apple(let link, let client) = origin { (link, client) } else { (nil, nil) }
        return BoundStatement(
            "INSERT INTO streaming_session (\(Self.columns)) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            [
                id, account, programmer, requestor, device, deviceLabel, client, origin.family, link, appleClient, scopes.joined(separator: " "),
                hasTVSession, createdAt, lastUsedAt, expiresAt,
            ])
    }

    init(columns: inout ColumnReader) {
        let (id, account): (StreamingSessionID, AccountID) = (columns.next(), columns.next())
        let (programmer, requestor): (ProgrammerID, RequestorID) = (columns.next(), columns.next())
        let (device, deviceLabel): (DeviceID, String) = (columns.next(), columns.next())
        let (client, family): (ClientID, FamilyID?) = (columns.next(), columns.next())
        let (link, appleClient): (AppleLinkID?, AppleClientID?) = (columns.next(), columns.next())
        let scopes: String = columns.next()
        self.init(
            id: id, account: account, programmer: programmer, requestor: requestor, device: device, deviceLabel: deviceLabel, client: client,
            // A session is written with one or the other.
            origin: family.map { .automatic($0) } ?? .apple(link ?? AppleLinkID(""), appleClient ?? AppleClientID("")),
            scopes: scopes.split(separator: " ").map(String.init), hasTVSession: columns.next(), createdAt: columns.next(),
            lastUsedAt: columns.next(), expiresAt: columns.next())
    }
}

/// A family was revoked for this reason, as it is kept and counted.
struct RevocationReason: Hashable, Sendable {
    let text: String

    static let optOut = RevocationReason(text: "opt_out")
    static let signOutEverywhere = RevocationReason(text: "sign_out_everywhere")
    static let flagged = RevocationReason(text: "flagged")
    static let replay = RevocationReason(text: "replay")
    static let idle = RevocationReason(text: "idle")
    static let notStored = RevocationReason(text: "not_stored")
    static let accountClosed = RevocationReason(text: "account_closed")
    static let appleLink = RevocationReason(text: "apple_link")

    /// The label in the metrics: reasons of callers' own are not told apart.
    var label: String {
        let known: [RevocationReason] = [
            .optOut, .signOutEverywhere, .flagged, .replay, .idle, .notStored, .accountClosed, .appleLink,
        ]
        return known.contains(self) ? text : "other"
    }
}

extension Database {
    /// Ends a family here and now, with its sessions; Apple and `authentication` hear of it through the outbox (apple §1.2, I1, I5).
    /// - Parameter kept: A session that stays.
    /// - Returns: The sessions that ended; none when the family was over before.
    @discardableResult
    func revoke(
        _ id: FamilyID, _ reason: RevocationReason, keeping kept: StreamingSessionID? = nil, _ touched: inout Touched, now: Timestamp
    ) throws -> [StreamingSessionRecord] {
        guard var family = try family(id), family.state != .revoked else { return [] }
        let wasAbsent = family.state == .absent
        family.state = .revoked
        family.revokedAt = now
        family.idleAt = nil
        family.reason = reason.text
        try update(family)
        touched.families.insert(id)
        let holders = try endVersions(of: family, &touched)
        if !wasAbsent {
            for token in holders { try enqueue(.delete(id, token), programmer: family.programmer, now: now) }
            try hasten(partition: OutboxLetter.partition(of: id), now: now)
        }
        let ended = try sessions(of: id).filter { $0.id != kept }
        try end(ended, now: now)
        touched.sessions.formUnion(ended.map(\.id))
        return ended
    }

    /// - Returns: The values that Apple may hold.
    private func endVersions(of family: FamilyRecord, _ touched: inout Touched) throws -> [TokenID] {
        let letters = try waitingLetters(partition: OutboxLetter.partition(of: family.id))
        let unsent = letters.filter { $0.letter.kind == .update && $0.progress.attempts == 0 }
        for letter in unsent { try remove(letter) }
        let neverSent = Set(unsent.compactMap { $0.letter.ids.last })
        var holders: [TokenID] = []
        for var version in try versions(of: family.id) {
            if [.pending, .active].contains(version.state), !neverSent.contains(version.id.text) {
                holders.append(version.id)
            } else {
                version.sealed = nil
            }
            version.state = .revoked
            try update(version, of: family)
            touched.versions.insert(version.id)
        }
        return holders
    }

    /// Ends all families of an account, and its sessions with `acr = auto`.
    /// - Parameter kept: A session that stays.
    func revokeAll(
        of account: AccountID, _ reason: RevocationReason, keeping kept: StreamingSessionID? = nil, _ touched: inout Touched, now: Timestamp
    ) throws -> (families: [FamilyID], sessions: [StreamingSessionID]) {
        var (families, ended): ([FamilyID], [StreamingSessionID]) = ([], [])
        for family in try self.families(of: account) where family.state != .revoked {
            ended += try revoke(family.id, reason, keeping: kept, &touched, now: now).map(\.id)
            families.append(family.id)
        }
        // One that was kept when its family ended before has no family left to end with.
        let left = try sessions(of: account).filter { $0.origin.context == .auto && $0.id != kept }
        try end(left, now: now)
        touched.sessions.formUnion(left.map(\.id))
        return (families, ended + left.map(\.id))
    }
}
