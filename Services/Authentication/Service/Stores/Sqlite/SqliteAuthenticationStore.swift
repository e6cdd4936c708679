internal import Storage
internal import Synchronization

/// The service's state in one SQLite file. One process at a time uses the file; its caches rely on that.
final class SqliteAuthenticationStore: Sendable {
    let store: Store
    /// Clients never change, so an entry is right for ever.
    let clients = Mutex(BoundedCache<ClientID, Client>(capacity: 16_384))
    let sessions: SessionCache

    /// - Parameter cachedSessions: Sessions kept in memory, at least 2.
    init(_ store: Store, cachedSessions: Int = 65_536) {
        self.store = store
        sessions = SessionCache(capacity: cachedSessions)
    }
}
