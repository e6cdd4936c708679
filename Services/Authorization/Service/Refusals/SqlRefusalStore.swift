public import Clocks
public import Contracts
internal import Cryptography
public import Faults
public import Storage

/// The last no of each session in the service's own store, which copies of the service may share.
public struct SqlRefusalStore: RefusalStore {
    private let store: Store

    /// - Parameter store: Opened with the migrations of `SqlAuthorizationStore`.
    public init(_ store: Store) { self.store = store }

    public func keep(_ refusals: [NotedRefusal]) async throws(Fault) {
        // In one order, so that two copies never wait for each other; a later no of another copy stays.
        let rows = refusals.map { (NotedRefusal.digest(of: $0.session), $0) }.sorted { $0.0 < $1.0 }
        try await store.write { database in
            for (session, refusal) in rows {
                try database.run(
                    """
                    INSERT INTO refusals (session, code, source, refused_at_ms) VALUES (?, ?, ?, ?)
                    ON CONFLICT (session) DO UPDATE SET code = excluded.code, source = excluded.source, refused_at_ms = excluded.refused_at_ms
                    WHERE refusals.refused_at_ms <= excluded.refused_at_ms
                    """, [session, refusal.code, Int64(refusal.source.rawValue), refusal.at])
            }
        }
    }

    public func refusals(of sessions: [String]) async throws(Fault) -> [NotedRefusal] {
        try await store.read { database in
            try sessions.compactMap { session in
                try database.first("SELECT code, source, refused_at_ms FROM refusals WHERE session = ?", [NotedRefusal.digest(of: session)]) {
                    columns in
                    let (code, source): (String, Int64) = (columns.next(), columns.next())
                    return NotedRefusal(session: session, code: code, source: DecisionSource(rawValue: Int32(clamping: source)), at: columns.next())
                }
            }
        }
    }

    public func forget(_ sessions: [String]) async throws(Fault) -> Int {
        let digests = sessions.map(NotedRefusal.digest).sorted()
        return try await store.write { database in
            try digests.reduce(0) { $0 + (try database.run("DELETE FROM refusals WHERE session = ?", [$1])) }
        }
    }
}

/// The last no of each session is kept here.
public protocol RefusalStore: Sendable {
    /// Keeps each in place of an earlier one of its session.
    /// - Throws: `Fault` of the store.
    func keep(_ refusals: [NotedRefusal]) async throws(Fault)

    /// The kept denials of these sessions, in any order.
    /// - Throws: `Fault` of the store.
    func refusals(of sessions: [String]) async throws(Fault) -> [NotedRefusal]

    /// Forgets what is kept of these sessions.
    /// - Returns: The number of rows that were there.
    /// - Throws: `Fault` of the store.
    func forget(_ sessions: [String]) async throws(Fault) -> Int
}

/// The last no of a session: why and when, not to what.
public struct NotedRefusal: Hashable, Sendable {
    /// The session's id.
    public var session: String
    /// A fault code.
    public var code: String
    public var source: DecisionSource
    public var at: Timestamp

    public init(session: String, code: String, source: DecisionSource, at: Timestamp) {
        self.session = session
        self.code = code
        self.source = source
        self.at = at
    }

    /// Support can ask for it for this long.
    public static let remembrance: Duration = .seconds(24 * 3600)

    /// 64 hex digits that stand for a session in a store, so that a row tells nobody whose it is.
    static func digest(of session: String) -> String { Hex.encode(SHA256.hash("refusal:" + session)) }
}
