internal import CoreMetrics
internal import Dispatch
public import Faults
public import GRDB
internal import Synchronization

/// A service's embedded store: one SQLite file in WAL mode with full synchronization.
///
/// Writes of concurrent callers share commits; reads run beside them on connections of their own, and share snapshots. No call blocks the caller's thread. Several
/// processes of one machine may have the same file open.
/// In a closure use `db.cachedStatement(sql:)` or the `fetch` methods with arguments; never interpolate values into SQL.
public final class Store: Sendable {
    /// Path of the SQLite file.
    public let file: String
    /// Says when another process has written to the file.
    public let changes: StoreChanges
    private let pool: DatabasePool
    private let commits: GroupCommit
    private let reads: GroupRead
    private let limits: StoreLimits
    private let metrics: StoreMetrics
    private let readsUnderWay = Atomic(0)
    /// Steps of the schema that this program knows.
    private let level: Int

    /// Opens or creates the file and brings its schema up to date. Blocks until that is done: for the start of a program.
    /// - Parameters:
    ///   - file: Path; missing folders are made, readable by this user only.
    ///   - name: Label of the metrics, for example `authentication`.
    ///   - migrations: All steps that this version knows, oldest first.
    ///   - limits: Bounds of queues and of the file.
    /// - Throws: `StoreError` naming the file when it is damaged, not accessible or newer than this program.
    public init(file: String, name: String, migrations: [Migration], limits: StoreLimits = StoreLimits()) throws(StoreError) {
        self.file = file
        self.limits = limits
        level = migrations.count
        metrics = StoreMetrics(store: name)
        pool = try StoreFile.open(file, migrations: migrations, limits: limits)
        changes = try StoreChanges(file: file)
        reads = GroupRead(pool: pool, readers: limits.readers)
        commits = GroupCommit(pool: pool, limits: limits, metrics: metrics, changes: changes)
    }

    /// Runs statements that change the store and returns when they are on disk.
    ///
    /// The statements are a savepoint in a transaction that they may share with those of other callers: all of them are stored or, when the
    /// closure throws, none. The closure sees writes of earlier callers. It must have no effect beside its statements: after a rollback it
    /// may run once more.
    /// - Parameter whenCommitted: Called with the result once it is on disk and before anybody hears of it, in the order of the commits, one call
    ///   at a time: for what memory is to know. It must be quick, and not use the store.
    /// - Throws: What the closure threw when that is a `Fault`; else `overloaded` (too many writes wait; nothing was done), `storage_full`,
    ///   `unavailable` (closed, or the disk fails) or `internal`.
    public func write<Value: Sendable>(
        _ body: @escaping @Sendable (GRDB.Database) throws -> Value, whenCommitted: (@Sendable (Value) -> Void)? = nil
    ) async throws(Fault) -> Value {
        let result = await withCheckedContinuation { (continuation: CheckedContinuation<Result<Value, Fault>, Never>) in
            do throws(Fault) {
                try commits.submit(PendingWrite(body, whenCommitted: whenCommitted) { continuation.resume(returning: $0) })
            } catch {
                continuation.resume(returning: .failure(error))
            }
        }
        return try result.get()
    }

    /// Runs statements that only read, on a snapshot of what is committed. Reads that wait at the same moment share one.
    /// - Throws: What the closure threw when that is a `Fault`; else `overloaded` (too many reads wait), `unavailable` or `internal`.
    public func read<Value: Sendable>(_ body: @escaping @Sendable (GRDB.Database) throws -> Value) async throws(Fault) -> Value {
        let underWay = readsUnderWay.add(1, ordering: .relaxed).newValue
        defer { readsUnderWay.subtract(1, ordering: .relaxed) }
        guard underWay <= limits.waitingReads else {
            metrics.refused.increment()
            throw .storeIsBusy
        }
        let result = await withCheckedContinuation { (continuation: CheckedContinuation<Result<Value, Fault>, Never>) in
            reads.submit { opened in
                continuation.resume(returning: Result { try body(opened.get()) }.mapError(Fault.storage))
            }
        }
        return try result.get()
    }

    /// Whether this program still knows what the file holds: a newer release may have changed it while this one had it open.
    /// - Returns: False when it has.
    /// - Throws: Faults of a read.
    public func isUnderstood() async throws(Fault) -> Bool { try await read { [level] in level >= (try SchemaLevel.read($0)?.least ?? 0) } }

    /// What the file holds, without what waits in its journal, and how much it may hold; also told by the metrics.
    /// - Throws: Faults of a read.
    public func size() async throws(Fault) -> (bytes: Int, limit: Int?) {
        let (pages, free) = try await read { database in
            (try Int.fetchOne(database, sql: "PRAGMA page_count") ?? 0, try Int.fetchOne(database, sql: "PRAGMA freelist_count") ?? 0)
        }
        let size = (bytes: (pages - free) * 4096, limit: limits.pages.map { $0 * 4096 })
        metrics.bytes.record(size.bytes)
        if let limit = size.limit { metrics.limitBytes.record(limit) }
        return size
    }

    /// Writes that wait for their turn, without those of the commit under way.
    package var waitingWrites: Int { commits.waitingWrites }

    /// Refuses new writes, waits until the waiting ones are on disk, and closes the file.
    public func close() async {
        await withCheckedContinuation { continuation in
            commits.close { continuation.resume() }
        }
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async { [pool] in
                // A checkpoint that fails costs nothing but time at the next start: the journal holds the same facts.
                _ = try? pool.writeWithoutTransaction { try $0.checkpoint(.truncate) }
                try? pool.close()
                continuation.resume()
            }
        }
    }
}
