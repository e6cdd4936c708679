internal import Dispatch
internal import Faults
internal import GRDB
public import Storage
#if canImport(Glibc)
internal import Glibc
#elseif canImport(Darwin)
internal import Darwin
#endif

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
        let patience = Patience()
        (pool, opening) = try StoreFile.open(file, migrations: migrations, limits: limits, patience: patience)
        journal = Journal(file: file, patience: patience)
        commitsOfOthers = try SqliteChanges(file: file)
        reads = GroupRead(pool: pool, readers: limits.readers)
        commits = GroupCommit(pool: pool, limits: limits, metrics: metrics, changes: commitsOfOthers, journal: journal)
    }

    var waitingWrites: Int { commits.waitingWrites }

    func submit(_ write: PendingWrite) throws(Fault) { try commits.submit(write) }

    func read(_ interest: Interest, _ job: @escaping @Sendable (Result<Storage.Database, any Error>) -> Void) { reads.submit(job) }

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
    /// - Throws: `StoreError` naming the file when it is damaged, not accessible or newer than this program.
    public convenience init(file: String, name: String, migrations: [Migration], limits: StoreLimits = StoreLimits()) throws(StoreError) {
        let metrics = StoreMetrics(store: name)
        let engine = try SqliteEngine(file: file, migrations: migrations, limits: limits, metrics: metrics)
        self.init(engine: engine, migrations: migrations, limits: limits, metrics: metrics)
    }
}
