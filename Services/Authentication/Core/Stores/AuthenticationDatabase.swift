public import Storage

/// The service's database.
public struct AuthenticationDatabase: Sendable {
    package let store: SqlAuthenticationStore

    /// The schema; `store` must have been opened with it.
    public static var migrations: [Migration] { SqlAuthenticationStore.migrations }

    /// The same in PostgreSQL.
    public static var postgresSteps: [Migration] { PostgresAuthenticationSchema.steps }

    /// The rows that every store deletes once they are over.
    public static var sweeps: [Sweep] { SqlAuthenticationStore.sweeps }

    /// The same, with what only a store on a server has.
    /// - Parameter reportHours: How long reports of sign-ins that failed are kept, at least 1.
    public static func sweeps(of store: Store, reportHours: Int = 24) -> [Sweep] {
        sweeps + (store.isDistributed ? PostgresAuthenticationSchema.sweeps(reportHours: reportHours) : [])
    }

    /// - Parameters:
    ///   - store: Open.
    ///   - cachedSessions: Sessions kept in memory where the store is coherent, at least 2.
    public init(_ store: Store, cachedSessions: Int = 65_536) {
        self.store = SqlAuthenticationStore(store, cachedSessions: cachedSessions)
    }
}
