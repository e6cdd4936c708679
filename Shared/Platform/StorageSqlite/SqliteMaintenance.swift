#if canImport(Glibc)
internal import Glibc
#elseif canImport(Darwin)
internal import Darwin
#endif
internal import Foundation
internal import GRDB
package import Storage

/// A store's file for whoever looks after it, beside the service or without it: it is only read, in one snapshot.
package final class SqliteMaintenance {
    package struct Column: Sendable, Hashable {
        package let name: String
        /// As it was declared.
        package let type: String
    }

    package let file: String
    private let queue: DatabaseQueue

    /// Opens the file, and takes the snapshot.
    /// - Throws: `StoreError`.
    package init(file: String) throws(StoreError) {
        self.file = file
        var configuration = GRDB.Configuration()
        configuration.readonly = true
        configuration.busyMode = .timeout(5)
        // The snapshot lasts from one access to the next.
        configuration.allowsUnsafeTransactions = true
        guard FileManager.default.fileExists(atPath: file) else { throw StoreError(file: file, reason: "does not exist") }
        do {
            queue = try DatabaseQueue(path: file, configuration: configuration)
            try queue.inDatabase { database in
                try database.execute(sql: "BEGIN")
                // With the first look at it the snapshot is taken.
                _ = try Int.fetchOne(database, sql: "SELECT count(*) FROM sqlite_master")
            }
        } catch {
            throw StoreFile.failure(file, error)
        }
    }

    /// The process that has the file open in SQLite; 0 where it is out of sight, in another container for instance. `nil`: none has, beside this one.
    package static func user(of file: String) -> Int32? {
        // A process that has a file in WAL mode open holds a shared lock on it, and another one on the index (sqlite.org/walformat.html).
        for (name, start, length) in [(file, 0x4000_0000, 512), (file + "-shm", 120, 9)] {
            let descriptor = Foundation.open(name, O_RDONLY | O_CLOEXEC)
            guard descriptor >= 0 else { continue }
            defer { Foundation.close(descriptor) }
            var lock = flock()
            (lock.l_type, lock.l_whence, lock.l_start, lock.l_len) = (Int16(F_WRLCK), Int16(SEEK_SET), off_t(start), off_t(length))
            if fcntl(descriptor, F_GETLK, &lock) == 0, lock.l_type != Int16(F_UNLCK) { return lock.l_pid }
        }
        return nil
    }

    /// Names of the schema's steps that the file has had.
    package func steps() throws(StoreError) -> [String] {
        try read { database in
            guard try database.tableExists("grdb_migrations") else { return [] }
            return try String.fetchAll(database, sql: "SELECT identifier FROM grdb_migrations ORDER BY rowid")
        }
    }

    /// Steps that a program must know; `nil`: nobody has said.
    package func leastLevel() throws(StoreError) -> Int? { try read { try SchemaLevel.read($0)?.least } }

    /// The tables of the store's own schema, without those that say how far it is.
    package func tables() throws(StoreError) -> [String] {
        try read { database in
            try String.fetchAll(
                database,
                sql: """
                    SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
                        AND name NOT IN ('grdb_migrations', 'schema_level') ORDER BY name
                    """)
        }
    }

    package func columns(of table: String) throws(StoreError) -> [Column] {
        try read { database in
            try Row.fetchAll(database, sql: "SELECT name, type FROM pragma_table_info(?) ORDER BY cid", arguments: [table])
                .map { Column(name: $0["name"], type: $0["type"]) }
        }
    }

    /// Tables that rows of this one refer to.
    package func parents(of table: String) throws(StoreError) -> Set<String> {
        try read { Set(try String.fetchAll($0, sql: #"SELECT DISTINCT "table" FROM pragma_foreign_key_list(?)"#, arguments: [table])) }
    }

    package func count(of table: String) throws(StoreError) -> Int {
        try read { try Int.fetchOne($0, sql: "SELECT count(*) FROM \(Self.quoted(table))") ?? 0 }
    }

    /// The least value of a column; `nil`: there is none.
    package func least(of column: String, in table: String) throws(StoreError) -> Int64? {
        try read { try Int64.fetchOne($0, sql: "SELECT min(\(Self.quoted(column))) FROM \(Self.quoted(table))") }
    }

    /// Bytes that the rows take, without the journal.
    package func bytes() throws(StoreError) -> Int {
        try read { database in
            func number(_ pragma: String) throws -> Int { try Int.fetchOne(database, sql: "PRAGMA \(pragma)") ?? 0 }
            return (try number("page_count") - number("freelist_count")) * (try number("page_size"))
        }
    }

    package func journalMode() throws(StoreError) -> String { try read { try String.fetchOne($0, sql: "PRAGMA journal_mode") ?? "" } }

    /// The damage of the file.
    /// - Parameter isDeep: Compares indexes with their tables too, and looks for rows that refer to none.
    package func damage(isDeep: Bool) throws(StoreError) -> [String] {
        try read { database in
            var found = try String.fetchAll(database, sql: isDeep ? "PRAGMA integrity_check(10)" : "PRAGMA quick_check(10)").filter { $0 != "ok" }
            if isDeep {
                found += try Row.fetchAll(database, sql: "PRAGMA foreign_key_check").prefix(10)
                    .map { "a row of \($0["table"] ?? "?") refers to none of \($0["parent"] ?? "?")" }
            }
            return found
        }
    }

    /// Calls with the columns of each row of a table, which are valid until the call returns.
    package func eachRow(of table: String, _ columns: [String], _ body: (any RowSource) throws -> Void) throws {
        let list = columns.map(Self.quoted).joined(separator: ", ")
        try queue.inDatabase { connection in
            try Storage.Database(SqliteSession(connection)).session.query(Storage.Statement("SELECT \(list) FROM \(Self.quoted(table))"), []) { row in
                try body(row)
                return true
            }
        }
    }

    /// Makes a copy of what the snapshot has, without a journal beside it.
    /// - Parameter copy: There must be no such file.
    /// - Throws: `StoreError`.
    package func copy(to copy: String) throws(StoreError) {
        guard !FileManager.default.fileExists(atPath: copy) else { throw StoreError(file: copy, reason: "is there already") }
        do {
            let target = try DatabaseQueue(path: copy)
            try queue.inDatabase { source in try target.inDatabase { try source.backup(to: $0) } }
            try target.writeWithoutTransaction { try $0.execute(sql: "PRAGMA journal_mode = DELETE") }
            try target.close()
        } catch {
            throw StoreFile.failure(copy, error)
        }
    }

    package func close() { try? queue.close() }

    private func read<Value>(_ body: (GRDB.Database) throws -> Value) throws(StoreError) -> Value {
        do {
            return try queue.inDatabase(body)
        } catch {
            throw StoreFile.failure(file, error)
        }
    }

    private static func quoted(_ name: String) -> String { "\"\(name)\"" }
}

/// How far a file's schema is, in steps, and how far a program must be to work with it.
///
/// A release only adds; what the release before it reads goes away one release later. So two releases can work on one file while copies are updated one
/// after the other.
struct SchemaLevel: Equatable, Sendable {
    /// Steps that the file has had.
    var current: Int
    /// Steps that a program must know.
    var least: Int

    /// The level of the file; `nil`: it is older than the table.
    static func read(_ database: GRDB.Database) throws -> SchemaLevel? {
        guard try database.tableExists("schema_level") else { return nil }
        return try Row.fetchOne(database, sql: "SELECT current, least FROM schema_level").map {
            SchemaLevel(current: $0["current"], least: $0["least"])
        }
    }

    /// The level that a program needs that goes on after these steps were made.
    init(after migrations: [Migration]) {
        current = migrations.count
        least = migrations.least
    }

    init(current: Int, least: Int) {
        self.current = current
        self.least = least
    }

    /// Notes what has been made; never takes back what a newer program noted.
    func write(_ database: GRDB.Database) throws {
        try database.execute(
            sql: """
                CREATE TABLE IF NOT EXISTS schema_level (only INTEGER PRIMARY KEY CHECK (only = 1), current INTEGER NOT NULL, least INTEGER NOT NULL)
                """)
        try database.execute(
            sql: """
                INSERT INTO schema_level (only, current, least) VALUES (1, ?1, ?2)
                ON CONFLICT (only) DO UPDATE SET current = excluded.current, least = excluded.least WHERE excluded.current > schema_level.current
                """, arguments: [current, least])
    }
}
