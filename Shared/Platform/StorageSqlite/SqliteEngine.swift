#if canImport(Glibc)
internal import Glibc
#elseif canImport(Darwin)
internal import Darwin
#endif
public import CoreMetrics
internal import Dispatch
internal import Faults
internal import Foundation
internal import GRDB
public import Storage
internal import Synchronization

/// One SQLite file in WAL mode with full synchronization. Several processes of one machine may have it open.
final class SqliteEngine: StoreEngine {
    let place: String
    var system: String { "sqlite" }
    var changes: (any StoreChanges)? { commitsOfOthers }
    private let commitsOfOthers: SqliteChanges
    private let pool: DatabasePool
    private let commits: GroupCommit
    private let reads: GroupRead
    private let journal: Journal
    let opening: StoreOpening

    /// Opens or creates the file and brings its schema up to date. Blocks until that is done.
    /// - Throws: `StoreError` naming the file when it is damaged, not accessible or newer than this program.
    init(file: String, migrations: [Migration], limits: StoreLimits, metrics: StoreMetrics) throws(StoreError) {
        place = file
        let busyHandler = BusyHandler()
        (pool, opening) = try StoreFile.open(file, migrations: migrations, limits: limits, busyHandler: busyHandler)
        journal = Journal(file: file, busyHandler: busyHandler)
        commitsOfOthers = try SqliteChanges(file: file)
        reads = GroupRead(pool: pool, readers: limits.readers)
        commits = GroupCommit(pool: pool, limits: limits, metrics: metrics, changes: commitsOfOthers, journal: journal)
    }

    var waitingWrites: Int { commits.waitingWrites }

    func submit(_ write: PendingWrite) throws(Fault) { try commits.submit(write) }

    func read(_ waiter: Waiter, _ job: @escaping @Sendable (Result<Storage.Database, any Error>) -> Void) { reads.submit(job) }

    func leastLevel(_ database: Storage.Database) throws -> Int { try database.onSqlite(SchemaLevel.read)?.least ?? 0 }

    func bytes(_ database: Storage.Database) throws -> Int {
        let (pages, free): (Int?, Int?) = (try database.value("PRAGMA page_count"), try database.value("PRAGMA freelist_count"))
        return ((pages ?? 0) - (free ?? 0)) * StoreLimits.pageBytes
    }

    func overhead(_ database: Storage.Database) throws -> (free: Int, journal: Int)? {
        let free: Int? = try database.value("PRAGMA freelist_count")
        return ((free ?? 0) * StoreLimits.pageBytes, journal.bytes)
    }

    var disk: DiskRoom? { DiskRoom(at: place) }

    func refusal(_ error: Storage.DatabaseError) -> StoreRefusal {
        let disk = disk
        if disk?.isReadOnly ?? false { return StoreRefusal(reason: .readOnly, advice: FileTrouble.advice(EROFS)) }
        guard error.kind == .full else {
            return StoreRefusal(reason: .failing, advice: "\(error); the kernel's log may say more, and a disk quota may be used up")
        }
        // The bound of the file is told by the same code.
        let isDisk = disk.map { $0.free < Self.scarce } ?? true
        return StoreRefusal(
            reason: .full,
            advice: isDisk
                ? FileTrouble.advice(ENOSPC) : "the file is as large as limits.storeMebibytes lets it be: raise that, and start the service again")
    }

    /// Bytes: a commit may need more than a disk has that is not yet quite full.
    private static let scarce = 8 * 1024 * 1024

    func takesWrites() async -> Bool {
        await withCheckedContinuation { continuation in
            commits.tryDisk { continuation.resume(returning: $0) }
        }
    }

    func close() async {
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

extension Store {
    /// Opens or creates a SQLite file and brings its schema up to date. Blocks until that is done: for the start of a program.
    /// - Parameters:
    ///   - file: Path; missing folders are made, readable by this user only.
    ///   - name: Label of the metrics, for example `authentication`.
    ///   - migrations: All steps that this version knows, oldest first.
    ///   - limits: Bounds of queues and of the file.
    ///   - factory: Keeps the numbers of the metrics.
    /// - Throws: `StoreError` naming the file when it is damaged, not accessible or newer than this program.
    public convenience init(
        file: String, name: String, migrations: [Migration], limits: StoreLimits = StoreLimits(),
        factory: any MetricsFactory = MetricsSystem.factory
    ) throws(StoreError) {
        let metrics = StoreMetrics(store: name, factory: factory)
        let engine = try SqliteEngine(file: file, migrations: migrations, limits: limits, metrics: metrics)
        self.init(engine: engine, migrations: migrations, limits: limits, metrics: metrics)
    }
}

/// Runs reads of concurrent callers together, on a snapshot that they share: a snapshot of its own costs several times what a lookup does.
///
/// A read that finds a free reader begins at once. The others wait until a reader is free, and are then taken together. They are taken before their
/// snapshot is: whoever reads sees every write that was acknowledged before it asked.
final class GroupRead: Sendable {
    /// Gets the database, or why there is none.
    typealias Job = @Sendable (Result<Storage.Database, any Error>) -> Void

    private struct State {
        var waiting: [Job] = []
        /// Readers that are busy.
        var running = 0
    }

    /// Reads on one snapshot at most: a long one delays the others that share it.
    private static let largestGroup = 32

    private let pool: DatabasePool
    private let readers: Int
    private let state = Mutex(State())

    init(pool: DatabasePool, readers: Int) {
        self.pool = pool
        self.readers = readers
    }

    func submit(_ job: @escaping Job) {
        let group: [Job]? = state.withLock { state in
            guard state.running < readers else {
                state.waiting.append(job)
                return nil
            }
            state.running += 1
            return [job]
        }
        if let group { run(group) }
    }

    private func run(_ group: [Job]) {
        pool.asyncRead { opened in
            let database = opened.map { Storage.Database(SqliteSession($0)) }.mapError(Storage.DatabaseError.translating)
            for job in group { job(database) }
            self.goOn()
        }
    }

    private func goOn() {
        let group: [Job]? = state.withLock { state in
            guard !state.waiting.isEmpty else {
                state.running -= 1
                return nil
            }
            let group = Array(state.waiting.prefix(Self.largestGroup))
            state.waiting.removeFirst(group.count)
            return group
        }
        if let group { run(group) }
    }
}

/// Keeps a file's write-ahead log (SQLite: WAL) from growing without an end.
///
/// After `pages` a commit puts them into the file, and the log begins anew as soon as no reader needs it. Under load there may always be one. Then
/// the writer waits a moment for the readers of that time, whose snapshots last for milliseconds, while new ones need the file alone. Only a snapshot
/// that lasts, such as that of a backup, lets the log grow, for as long as it lasts.
struct Journal {
    /// After which they are put into the file: a page that changes often is then put there less often.
    static let pages = 4000
    /// Bytes that the log has then, with its headers of 24 octets for each page and 32 for the file (sqlite.org/fileformat2.html, section 4).
    static let usual = 32 + pages * (StoreLimits.pageBytes + 24)
    /// Bytes from which on the writer waits for readers.
    static let most = 2 * usual
    /// Tries of half a millisecond: how long it waits at first, and at most after waits in vain.
    private static let tries = 100...800

    private let path: String
    private let busyHandler: BusyHandler
    private var tries = Self.tries.lowerBound
    private var next = ContinuousClock.now

    /// - Parameter file: The store's.
    init(file: String, busyHandler: BusyHandler) { (path, self.busyHandler) = (file + "-wal", busyHandler) }

    var bytes: Int {
        var facts = stat()
        return stat(path, &facts) == 0 ? Int(facts.st_size) : 0
    }

    /// To be called after a commit, by the writer.
    mutating func bound(_ database: GRDB.Database) {
        guard bytes > Self.most, .now >= next else { return }
        // A failure costs nothing: the log holds the same facts.
        if (try? busyHandler.hurry(tries: tries) { try database.checkpoint(.truncate) }) != nil {
            tries = Self.tries.lowerBound
        } else {
            // A twentieth of the time at most is lost to a snapshot that lasts.
            next = .now + .milliseconds(10 * tries)
            tries = min(2 * tries, Self.tries.upperBound)
        }
    }
}
