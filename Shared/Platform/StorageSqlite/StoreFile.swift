#if canImport(Glibc)
internal import Glibc
#elseif canImport(Darwin)
internal import Darwin
#endif
internal import Clocks
internal import Dispatch
internal import Foundation
internal import GRDB
internal import GRDBSQLite
internal import Storage
internal import Synchronization

/// Opens a store's file: durable, migrated, readable.
enum StoreFile {
    /// Files up to this size are checked for damage when they are opened, in bytes: about 0.1 s.
    private static let checkedSize = 64 * 1024 * 1024
    /// The longest that the check of a larger one takes, which was not closed.
    private static let checkTime: Duration = .seconds(1)

    /// - Parameters:
    ///   - busyHandler: How long waits of the writer for others may be.
    ///   - checkedSize: Larger files are checked only where they were not closed, and for `checkTime` at most.
    static func open(
        _ path: String, migrations: [Migration], limits: StoreLimits, busyHandler: BusyHandler = BusyHandler(),
        checkedSize: Int = StoreFile.checkedSize,
        checkTime: Duration = StoreFile.checkTime
    ) throws(StoreError) -> (pool: DatabasePool, opening: StoreOpening) {
        do {
            _ = SqliteLog.isListened
            try prepare(path)
            let turn = try takeTurn(path)
            defer { close(turn) }
            let pool = try DatabasePool(path: path, configuration: configuration(limits, busyHandler))
            try makeDurable(pool, limits: limits)
            let frames = SqliteLog.takeRecovered(of: path)
            let isSmall = try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int ?? 0 <= checkedSize
            let isFinished = try isSmall || frames > 0 ? check(pool, path: path, limit: isSmall ? nil : checkTime) : true
            try migrate(pool, migrations, path: path)
            return (pool, StoreOpening(recoveredFrames: frames, isCheckFinished: isFinished))
        } catch {
            throw failure(path, error)
        }
    }

    private static func configuration(_ limits: StoreLimits, _ busyHandler: BusyHandler) -> GRDB.Configuration {
        var configuration = GRDB.Configuration()
        configuration.maximumReaderCount = limits.readers
        configuration.busyMode = .callback(busyHandler.wait)
        configuration.qos = .userInitiated
        return configuration
    }

    /// The folder and an empty file that only this user may read; SQLite gives its journal the same mode.
    private static func prepare(_ path: String) throws {
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
        if let code = FileTrouble.makeFolder(folder) {
            throw StoreError(file: path, reason: "its folder cannot be made; \(FileTrouble.advice(code))")
        }
        var isFolder: ObjCBool = false
        if FileManager.default.fileExists(atPath: path, isDirectory: &isFolder), isFolder.boolValue {
            throw StoreError(file: path, reason: "is a folder; name a file")
        }
        // Never cut to nothing what is there: another copy that starts at the same moment may have begun to write it.
        let descriptor = Foundation.open(path, O_CREAT | O_RDWR | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw StoreError(file: path, reason: "cannot be opened for writing; \(FileTrouble.advice(errno))") }
        close(descriptor)
    }

    /// Copies that start at the same moment open and migrate the file one after the other: what one has migrated the next one finds.
    /// - Returns: A descriptor whose closing ends the turn, also when the program dies.
    private static func takeTurn(_ path: String) throws -> Int32 {
        let lock = path + ".opening"
        let descriptor = Foundation.open(lock, O_CREAT | O_RDWR | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw StoreError(file: lock, reason: "cannot be created; \(FileTrouble.advice(errno))") }
        while flock(descriptor, LOCK_EX) != 0, errno == EINTR {}
        return descriptor
    }

    /// GRDB sets `synchronous` to NORMAL, which may forget the last commits when power fails; an acknowledged write must stay.
    private static func makeDurable(_ pool: DatabasePool, limits: StoreLimits) throws {
        try pool.writeWithoutTransaction { database in
            try database.execute(sql: "PRAGMA synchronous = FULL")
            // Pages of the journal after which they are put into the file: a page that changes often is then put there less often.
            try database.execute(sql: "PRAGMA wal_autocheckpoint = \(Journal.pages)")
            // A journal that had to grow beyond it is cut back when it begins anew.
            try database.execute(sql: "PRAGMA journal_size_limit = \(Journal.usual)")
            if let pages = limits.pages { try database.execute(sql: "PRAGMA max_page_count = \(pages)") }
        }
    }

    /// - Returns: True when it came to its end.
    private static func check(_ pool: DatabasePool, path: String, limit: Duration?) throws -> Bool {
        do {
            let verdict = try pool.writeWithoutTransaction { database in
                try Interruption.after(limit, database) { try String.fetchOne(database, sql: "PRAGMA quick_check(1)") }
            }
            if let verdict, verdict != "ok" { throw damaged(path, verdict) }
            return true
        } catch let error as GRDB.DatabaseError where error.resultCode == .SQLITE_INTERRUPT && limit != nil {
            return false
        }
    }

    private static func damaged(_ path: String, _ verdict: String) -> StoreError {
        let detail = verdict.split(whereSeparator: \.isNewline).joined(separator: " ")
        return StoreError(file: path, reason: "is damaged (\(detail)); restore it from a backup, or move it away to start empty")
    }

    private static func migrate(_ pool: DatabasePool, _ migrations: [Migration], path: String) throws {
        var migrator = DatabaseMigrator()
        for migration in migrations {
            migrator.registerMigration(migration.name) { database in
                for statement in migration.statements { try database.execute(sql: statement) }
            }
        }
        let own = SchemaLevel(after: migrations)
        if try pool.read(migrator.hasBeenSuperseded) {
            // A newer release only adds, until it says that this one is too old.
            guard let level = try pool.read(SchemaLevel.read), own.current >= level.least else { throw superseded(path) }
        }
        try migrator.migrate(pool)
        if try pool.read(SchemaLevel.read).map({ $0.current < own.current }) ?? true { try pool.write(own.write) }
    }

    static func superseded(_ path: String) -> StoreError {
        StoreError(file: path, reason: "was written by a newer version of this service; start that version, or restore a backup")
    }

    /// The error for the opener of a file.
    static func failure(_ path: String, _ error: any Error) -> StoreError {
        (error as? StoreError) ?? StoreError(file: path, reason: reason(error, path))
    }

    private static func reason(_ error: any Error, _ path: String) -> String {
        guard let error = error as? GRDB.DatabaseError else { return "cannot be opened: \(error.localizedDescription)" }
        let text = error.message ?? "\(error.resultCode)"
        return switch error.resultCode {
        case .SQLITE_NOTADB, .SQLITE_CORRUPT: "is damaged (\(text)); restore it from a backup, or move it away to start empty"
        case .SQLITE_CANTOPEN, .SQLITE_PERM, .SQLITE_READONLY: "cannot be opened (\(text)); \(FileTrouble.advice(path))"
        case .SQLITE_BUSY: "is locked by another process"
        case .SQLITE_FULL: "has no room to grow (\(text)); make room on its disk, or raise limits.storeMebibytes"
        default: "cannot be used (\(text))"
        }
    }
}

/// Ends what a connection does after some time, from another thread: a progress handler is not called within a check (SQLite 3.40).
private final class Interruption: Sendable {
    /// Its connection; 0: it is done.
    private let connection: Mutex<UInt>

    private init(_ connection: OpaquePointer) { self.connection = Mutex(UInt(bitPattern: connection)) }

    /// - Parameter limit: `nil`: it may last.
    static func after<Value>(_ limit: Duration?, _ database: GRDB.Database, _ body: () throws -> Value) rethrows -> Value {
        guard let limit, let connection = database.sqliteConnection else { return try body() }
        let interruption = Interruption(connection)
        DispatchQueue.global().asyncAfter(deadline: .now() + limit / .seconds(1)) { interruption.strike() }
        defer { interruption.end() }
        return try body()
    }

    private func strike() {
        connection.withLock { address in
            // It is open: whoever closes it has told that it is done.
            if let connection = OpaquePointer(bitPattern: address) { sqlite3_interrupt(connection) }
        }
    }

    private func end() { connection.withLock { $0 = 0 } }
}

/// SQLite's messages beside its answers (sqlite.org/errlog.html).
enum SqliteLog {
    /// `SQLITE_NOTICE_RECOVER_WAL`.
    private static let recovery: CInt = 283
    private static let recovered = Mutex<[String: Int]>([:])

    /// Listens from then on. To be asked before the process opens its first file: later SQLite takes no listener.
    static let isListened: Bool = {
        _registerErrorLogCallback { _, code, message in
            if code == SqliteLog.recovery, let message { SqliteLog.note(String(cString: message)) }
        }
        return true
    }()

    private static func note(_ message: String) {
        guard let parts = message.wholeMatch(of: /recovered (\d+) frames from WAL file (.+)/), let frames = Int(parts.1) else { return }
        recovered.withLock { $0[String(parts.2)] = frames }
    }

    /// Frames of a file's write-ahead log that SQLite has read back since this was asked last.
    static func takeRecovered(of file: String) -> Int {
        let path = URL(fileURLWithPath: file).resolvingSymlinksInPath().path + "-wal"
        return recovered.withLock { $0.removeValue(forKey: path) } ?? 0
    }
}

/// Connections to a file wait this long for others that have it locked: five seconds or so, and less while somebody is in a hurry. A try is half a
/// millisecond.
final class BusyHandler: Sendable {
    private static let usual = 10_000
    private let tries = Atomic(usual)

    /// SQLite's own waiting grows to a tenth of a second, in which a process that writes all the time keeps the file for itself. Short waits of
    /// random length find the gaps between its commits.
    /// - Parameter tries: How often it has waited already.
    /// - Returns: False: it gives up.
    func wait(_ tries: Int) -> Bool {
        guard tries < self.tries.load(ordering: .relaxed) else { return false }
        usleep(.random(in: 100...900))
        return true
    }

    /// Waits are shorter while the body runs.
    func hurry<Result>(tries: Int, _ body: () throws -> Result) rethrows -> Result {
        self.tries.store(tries, ordering: .relaxed)
        defer { self.tries.store(Self.usual, ordering: .relaxed) }
        return try body()
    }
}
