public import Faults
public import Logging
public import Storage
internal import Synchronization

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
            // Nobody knows if a commit that broke off is on disk.
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

/// The changes of a commit.
struct Touched: Hashable, Sendable {
    var accounts: Set<AccountID> = []
    var sessions: Set<StreamingSessionID> = []
    /// Known from then on; none of them is in `sessions` for another change after it.
    var newSessions: [StreamingSessionRecord] = []
    var families: Set<FamilyID> = []
    var versions: Set<TokenID> = []
}

/// A statement with its arguments, for a transaction or for a plan.
struct BoundStatement: Sendable {
    let statement: Statement
    let arguments: Arguments

    init(_ statement: Statement, _ arguments: Arguments) {
        self.statement = statement
        self.arguments = arguments
    }
}

extension Database {
    /// - Returns: The number of rows that it inserted, changed or deleted.
    @discardableResult
    func run(_ step: BoundStatement) throws -> Int { try run(step.statement, step.arguments) }
}

extension Plan {
    /// - Parameter rows: The number of rows that it must change or return; `nil`: any.
    mutating func add(_ step: BoundStatement, rows: Int? = nil) { add(step.statement, step.arguments, rows: rows) }
}

extension AutoSignInStore {
    /// Runs one statement in a commit of its own: nothing that memory holds.
    /// - Returns: The number of rows that it inserted, changed or deleted.
    /// - Throws: Faults of the storage.
    @discardableResult
    func change(_ step: BoundStatement, of subject: String) async throws(Fault) -> Int {
        try await store.change(step.statement, step.arguments, of: subject)
    }
}

/// Watches whether the store answers, as far as the last look says.
public final class StoreWatch: Sendable {
    private let store: AutoSignInStore
    private let logger: Logger
    private let trouble = Mutex<String?>("not looked at yet")

    public init(store: AutoSignInStore, logger: Logger) {
        self.store = store
        self.logger = logger
    }

    /// The trouble with the store; `nil` when it answered well.
    public var lacking: String? { trouble.withLock { $0 } }

    /// Looks once.
    public func look() async {
        let found: String?
        do throws(Fault) {
            try await store.verify()
            found = nil
        } catch {
            found = error.message
        }
        let before = trouble.withLock { trouble in
            defer { trouble = found }
            return trouble
        }
        if let found, found != before { logger.error("store.trouble", metadata: ["reason": "\(found)"]) }
        if found == nil, before != nil { logger.info("store.answers") }
    }
}
