public import Storage

/// The service's embedded database.
public struct AuthenticationDatabase: Sendable {
    let store: SqliteAuthenticationStore

    /// The schema; `store` must have been opened with it.
    public static var migrations: [Migration] { SqliteAuthenticationStore.migrations }

    /// What is removed once it is over.
    public static var sweeps: [Sweep] { SqliteAuthenticationStore.sweeps }

    /// - Parameters:
    ///   - store: Open, and used by this process alone.
    ///   - cachedSessions: Sessions kept in memory, at least 2.
    public init(_ store: Store, cachedSessions: Int = 65_536) {
        self.store = SqliteAuthenticationStore(store, cachedSessions: cachedSessions)
    }
}
