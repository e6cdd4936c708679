package import GRDB
internal import GRDBSQLite
package import Storage

/// A connection of GRDB's, as stores see it. It lives as long as the transaction.
///
/// GRDB gives connections, transactions and prepared statements; statements run by SQLite's own calls alone (decision 0091). Arguments lie together in one
/// piece of memory that SQLite reads from, and columns are read from where SQLite has them.
final class SqliteSession: DatabaseSession {
    let connection: GRDB.Database

    init(_ connection: GRDB.Database) { self.connection = connection }

    func run(_ statement: Storage.Statement, _ arguments: Arguments) throws -> Int {
        try translated {
            try execute(try connection.cachedStatement(sql: statement.sqlite), arguments) { _ in true }
            return connection.changesCount
        }
    }

    func query(_ statement: Storage.Statement, _ arguments: Arguments, _ read: (any RowSource) throws -> Bool) throws {
        try translated { try execute(try connection.cachedStatement(sql: statement.sqlite), arguments, read) }
    }

    /// Gives the rows of a statement until `read` wants no more. One that changes rows runs to its end all the same.
    private func execute(_ prepared: GRDB.Statement, _ arguments: Arguments, _ read: (any RowSource) throws -> Bool) throws {
        try bound(prepared, arguments) {
            let statement = prepared.sqliteStatement
            let row = SqliteRow(statement)
            var isWanted = true
            defer { sqlite3_reset(statement) }
            while isWanted || !prepared.isReadonly {
                switch sqlite3_step(statement) {
                case SQLITE_ROW: if isWanted { isWanted = try read(row) }
                case SQLITE_DONE: return
                case let code:
                    throw GRDB.DatabaseError(
                        resultCode: ResultCode(rawValue: code), message: String(cString: sqlite3_errmsg(connection.sqliteConnection)),
                        sql: prepared.sql)
                }
            }
        }
    }

    /// Binds the arguments while the body runs.
    private func bound<Result>(_ prepared: GRDB.Statement, _ arguments: Arguments, _ body: () throws -> Result) throws -> Result {
        try arguments.requireStorable()
        let statement = prepared.sqliteStatement
        // Also resets it, and tells GRDB that the arguments are not its business.
        prepared.setUncheckedArguments(StatementArguments())
        guard Int(sqlite3_bind_parameter_count(statement)) == arguments.values.count else {
            throw GRDB.DatabaseError(
                resultCode: .SQLITE_MISUSE, message: "wrong number of statement arguments: \(arguments.values.count)", sql: prepared.sql)
        }
        return try withUnsafeTemporaryAllocation(of: UInt8.self, capacity: arguments.octets) { octets in
            bind(arguments, to: statement, octets)
            defer { sqlite3_clear_bindings(statement) }
            return try body()
        }
    }

    private func bind(_ arguments: Arguments, to statement: OpaquePointer, _ octets: UnsafeMutableBufferPointer<UInt8>) {
        var (place, used): (CInt, Int) = (0, 0)
        for value in arguments.values {
            place += 1
            // A value that SQLite takes without a copy must not move: it points to this memory. An empty text needs an address too.
            let start = octets.baseAddress.map { UnsafeRawPointer($0 + used) }
            let code: CInt
            switch value {
            case .null: code = sqlite3_bind_null(statement, place)
            case .integer(let number): code = sqlite3_bind_int64(statement, place, number)
            case .text(let text):
                let count = text.utf8.count
                _ = UnsafeMutableBufferPointer(rebasing: octets[used..<used + count]).initialize(from: text.utf8)
                used += count
                code = sqlite3_bind_text(statement, place, start?.assumingMemoryBound(to: CChar.self), CInt(count), nil)
            case .bytes(let bytes):
                bytes.withUnsafeBytes { UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(octets)[used...]).copyMemory(from: $0) }
                used += bytes.count
                code = sqlite3_bind_blob(statement, place, start, CInt(bytes.count), nil)
            }
            // Only a text of over a billion octets, or a statement under way, could fail.
            precondition(code == SQLITE_OK, "SQLite refused an argument: \(code)")
        }
    }

    fileprivate func translated<Result>(_ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch let error as GRDB.DatabaseError {
            throw Storage.DatabaseError(error)
        }
    }
}

extension Storage.Database {
    /// For what only SQLite can: its schema, and tests.
    package func onSqlite<Result>(_ body: (GRDB.Database) throws -> Result) throws -> Result {
        guard let session = session as? SqliteSession else { preconditionFailure("the store is not SQLite's") }
        return try session.translated { try body(session.connection) }
    }
}

extension Arguments {
    /// The octets of its texts and blobs, and one more: an empty one has an address too.
    fileprivate var octets: Int {
        values.reduce(1) { count, value in
            switch value {
            case .null, .integer: count
            case .text(let text): count + text.utf8.count
            case .bytes(let bytes): count + bytes.count
            }
        }
    }
}

/// The row that a statement stands on.
private final class SqliteRow: RowSource {
    private let statement: OpaquePointer

    init(_ statement: OpaquePointer) { self.statement = statement }

    func isNull(_ column: Int) -> Bool { sqlite3_column_type(statement, CInt(column)) == SQLITE_NULL }

    func integer(_ column: Int) -> Int64 {
        let number = sqlite3_column_int64(statement, CInt(column))
        precondition(number != 0 || !isNull(column), "column \(column) is NULL")
        return number
    }

    func text(_ column: Int) -> String {
        guard let start = sqlite3_column_text(statement, CInt(column)) else { preconditionFailure("column \(column) is NULL") }
        let count = Int(sqlite3_column_bytes(statement, CInt(column)))
        return String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
    }

    func bytes(_ column: Int) -> [UInt8] {
        guard let start = sqlite3_column_blob(statement, CInt(column)) else {
            precondition(!isNull(column), "column \(column) is NULL")
            return []
        }
        return [UInt8](UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(statement, CInt(column)))))
    }
}
