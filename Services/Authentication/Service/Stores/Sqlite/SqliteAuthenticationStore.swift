internal import Storage

/// The service's state in one SQLite file. One process at a time uses the file; its caches rely on that.
final class SqliteAuthenticationStore: Sendable {
    let store: Store
    let clients = CoherentCache<ClientID, Client>(capacity: 16_384)
    let sessions: CoherentCache<SessionKey, SessionRecord>

    /// - Parameter cachedSessions: Sessions kept in memory, at least 2.
    init(_ store: Store, cachedSessions: Int = 65_536) {
        self.store = store
        sessions = CoherentCache(capacity: cachedSessions)
    }
}
