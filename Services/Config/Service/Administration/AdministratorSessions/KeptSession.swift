internal import Clocks
internal import Contracts
internal import Cryptography
internal import Faults
internal import Storage

/// A session of the console as the store keeps it: without its secret.
struct KeptSession: Sendable {
    /// Rests as long unused, and it is over (dashboard §1).
    static let idle = Duration.seconds(30 * 60)
    static let longest = Duration.seconds(12 * 3600)
    /// A use is written down when the last one that was is this old, so that reading pages writes little.
    static let grain = Duration.seconds(60)

    /// SHA-256 of the secret, 64 hex digits.
    let digest: String
    let name: String
    /// The mark of the bearer that opened it; empty: there is none.
    let mark: String
    /// The administrator is here.
    let client: String
    let openedAt: Timestamp
    var usedAt: Timestamp
    /// The person when no bearer opened it: an identity provider knows them.
    let signedIn: Administrator?

    /// Whichever comes first.
    var endsAt: Timestamp { min(openedAt + Self.longest, usedAt + Self.idle) }

    /// Names the session where its digest would be too much to tell.
    var id: String { String(digest.prefix(24)) }

    func contract(own: String) -> AdministratorSession {
        AdministratorSession(
            id: id, name: name, client: client, openedAtMilliseconds: UInt64(clamping: openedAt.milliseconds),
            usedAtMilliseconds: UInt64(clamping: usedAt.milliseconds), endsAtMilliseconds: UInt64(clamping: endsAt.milliseconds),
            isOwn: digest == own)
    }
}

extension KeptSession {
    static let schema = """
        CREATE TABLE administrator_session (
            -- SHA-256 of the secret.
            digest TEXT PRIMARY KEY,
            name TEXT NOT NULL,
            -- Of the bearer that opened it.
            mark TEXT NOT NULL,
            client TEXT NOT NULL,
            opened_at_ms INTEGER NOT NULL,
            used_at_ms INTEGER NOT NULL,
            ends_at_ms INTEGER NOT NULL
        );
        CREATE INDEX administrator_session_by_end ON administrator_session (ends_at_ms);
        """

    /// The columns for people whom an identity provider knows; both empty for a session that a bearer opened. A release without the columns finds no
    /// bearer for the mark of such a session, and ends it.
    static let signedInColumns = [
        "ALTER TABLE administrator_session ADD COLUMN role TEXT NOT NULL DEFAULT ''",
        "ALTER TABLE administrator_session ADD COLUMN programmers TEXT NOT NULL DEFAULT ''",
    ]

    static let columns = "digest, name, mark, client, opened_at_ms, used_at_ms, role, programmers"

    /// The value of the column `role`.
    var roleWord: String {
        switch signedIn?.role {
        case .viewer: "viewer"
        case .editor: "editor"
        case .operator: "operator"
        default: ""
        }
    }

    private static func role(_ word: String) -> AdministratorRole? {
        switch word {
        case "viewer": .viewer
        case "editor": .editor
        case "operator": .operator
        default: nil
        }
    }

    init(columns: inout ColumnReader) {
        digest = columns.next()
        name = columns.next()
        mark = columns.next()
        client = columns.next()
        openedAt = columns.next()
        usedAt = columns.next()
        let (role, programmers): (String, String) = (columns.next(), columns.next())
        let name = name
        signedIn = Self.role(role).map { Administrator(name: name, role: $0, programmerIDs: programmers.split(separator: " ").map(String.init)) }
    }
}

/// The secret of a session: told apart from a bearer by its beginning.
enum SessionSecret {
    private static let beginning = "console_"

    static func isOne(_ token: String) -> Bool { token.utf8.starts(with: beginning.utf8) }

    /// 256 bits at random.
    static func fresh() -> String {
        var source = SystemRandomNumberGenerator()
        return beginning + Hex.encode((0..<32).map { _ in source.next() as UInt8 })
    }

    static func digest(_ secret: String) -> String { Hex.encode(SHA256.hash(secret)) }
}

extension Fault {
    static let noSession = Fault(.accessDenied, "The session is over.")
}

extension CatalogueLedger {
    /// Keeps a new session, and forgets those that are over.
    func open(_ session: KeptSession) throws {
        try database.run("DELETE FROM administrator_session WHERE ends_at_ms <= ?", [now])
        try database.run(
            "INSERT INTO administrator_session (\(KeptSession.columns), ends_at_ms) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            [
                session.digest, session.name, session.mark, session.client, session.openedAt, session.usedAt, session.roleWord,
                session.signedIn?.programmerIDs.joined(separator: " ") ?? "", session.endsAt,
            ])
    }

    /// - Returns: `nil` when it is over or never was.
    func session(_ digest: String) throws -> KeptSession? {
        try database.first("SELECT \(KeptSession.columns) FROM administrator_session WHERE digest = ? AND ends_at_ms > ?", [digest, now]) {
            KeptSession(columns: &$0)
        }
    }

    /// Notes that a session goes on.
    func use(_ session: KeptSession) throws {
        var session = session
        session.usedAt = now
        try database.run(
            "UPDATE administrator_session SET used_at_ms = ?, ends_at_ms = ? WHERE digest = ?", [now, session.endsAt, session.digest])
    }

    func end(_ session: KeptSession) throws {
        try database.run("DELETE FROM administrator_session WHERE digest = ?", [session.digest])
    }

    /// Those that go on, newest first.
    func sessions() throws -> [KeptSession] {
        try database.all(
            "SELECT \(KeptSession.columns) FROM administrator_session WHERE ends_at_ms > ? ORDER BY opened_at_ms DESC, digest", [now]
        ) { KeptSession(columns: &$0) }
    }
}
