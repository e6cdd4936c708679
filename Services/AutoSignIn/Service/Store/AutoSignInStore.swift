public import Faults
public import Storage

/// The state of this service in a store, which copies of the service may share.
///
/// Statements are extensions of `Database`, so that an operation puts together in one commit what belongs together.
public final class AutoSignInStore: Sendable {
    let store: Store
    let accounts: CoherentCache<AccountID, AccountRecord>
    let sessions: CoherentCache<StreamingSessionID, StreamingSessionRecord>
    let families: CoherentCache<FamilyID, FamilyRecord>
    let versions: CoherentCache<TokenID, TokenVersionRecord>

    /// - Parameters:
    ///   - store: Opened with `migrations` or `postgresSteps`.
    ///   - cached: Accounts, sessions, families and values kept in memory where the store is coherent, of each at least 2.
    public init(_ store: Store, cached: Int = 65_536) {
        self.store = store
        accounts = CoherentCache(capacity: cached, of: store)
        sessions = CoherentCache(capacity: cached, of: store)
        families = CoherentCache(capacity: cached, of: store)
        versions = CoherentCache(capacity: cached, of: store)
        store.watch(accounts, "accounts")
        store.watch(sessions, "sessions")
        store.watch(families, "families")
        store.watch(versions, "versions")
    }

    /// Runs statements in one commit, and lets the caches forget what they changed before anybody hears of it.
    /// - Parameter body: Names what it changes; may run more than once.
    /// - Throws: As `Store.write`.
    func change<Value: Sendable>(_ body: @escaping @Sendable (Database, inout Touched) throws -> Value) async throws(Fault) -> Value {
        do throws(Fault) {
            return try await store.write(
                { database in
                    var touched = Touched()
                    let value = try body(database, &touched)
                    return (value, touched)
                }, whenCommitted: { self.forget($0.1) }
            ).0
        } catch {
            // Whether a commit that broke off is on disk, nobody knows.
            if [.unavailable, .internal, .storageFull].contains(error.code) { forgetAll() }
            throw error
        }
    }

    private func forget(_ touched: Touched) {
        for id in touched.accounts { accounts.forget(id) }
        for id in touched.sessions { sessions.forget(id) }
        for session in touched.newSessions { sessions.replace(session.id, with: session) }
        for id in touched.families { families.forget(id) }
        for id in touched.versions { versions.forget(id) }
    }

    private func forgetAll() {
        accounts.forgetAll()
        sessions.forgetAll()
        families.forgetAll()
        versions.forgetAll()
    }

    /// Reads what the store says of itself.
    /// - Throws: `internal` when it is another service's; the fault of the store when it does not answer.
    public func verify() async throws(Fault) {
        let owner: String? = try await store.value("SELECT value FROM store_metadata WHERE name = 'owner'")
        guard owner == Self.owner else {
            throw Fault(.internal, "the store \(store.place) belongs to '\(owner ?? "nobody")', not to '\(Self.owner)'")
        }
    }
}

/// What a commit changed.
struct Touched: Hashable, Sendable {
    var accounts: Set<AccountID> = []
    var sessions: Set<StreamingSessionID> = []
    /// Known from then on; none of them is in `sessions` for another change after it.
    var newSessions: [StreamingSessionRecord] = []
    var families: Set<FamilyID> = []
    var versions: Set<TokenID> = []
}
