internal import CPostgres
package import Storage

/// A connection for whoever looks after a store, beside the service or without it. Blocks.
package final class PostgresMaintenance {
    package struct Column: Sendable, Hashable {
        package let name: String
        package let kind: Kind

        package enum Kind: Sendable { case integer, text, bytes }
    }

    package let place: String
    private let schema: String?
    private let connection: PostgresConnection

    /// - Throws: `StoreError`, as of a service that starts.
    package init(_ options: PostgresOptions) throws(StoreError) {
        (place, schema) = (options.place, options.schema)
        let place = place
        connection = try Self.told(place) { try PostgresConnection.open(options, program: "maintenance") }
        // The bounds that the role has for the service would end long statements here.
        try run("SET statement_timeout = 0; SET lock_timeout = '10s'; SET idle_in_transaction_session_timeout = 0; SET bytea_output = 'hex'")
    }

    /// Makes the schema and the tables that are missing, as a service does that starts.
    /// - Throws: `StoreError`, also when the schema is newer than the steps.
    package func bringUpToDate(_ steps: [Migration]) throws(StoreError) {
        try Self.told(place) { try PostgresSchema(name: schema, steps: steps, connection: connection, place: place).bringUpToDate() }
    }

    /// Runs statements, with semicolons between them.
    package func run(_ script: String) throws(StoreError) { try Self.told(place) { try connection.run(script: script) } }

    /// The rows that a statement without arguments returns, as text; `nil` for NULL.
    package func rows(_ sql: String) throws(StoreError) -> [[String?]] {
        try Self.told(place) {
            try connection.direct { raw in
                guard let result = PQexec(raw, sql) else { throw connection.lost() }
                let rows = PostgresRows(result)
                guard rows.status == PGRES_TUPLES_OK || rows.status == PGRES_COMMAND_OK else { throw rows.error }
                return (0..<PQntuples(result)).map { row in
                    (0..<PQnfields(result)).map { PQgetisnull(result, row, $0) == 1 ? nil : String(cString: PQgetvalue(result, row, $0)) }
                }
            }
        }
    }

    /// The first column of the first row.
    package func value(_ sql: String) throws(StoreError) -> String? { try rows(sql).first?.first ?? nil }

    /// A setting of the server; empty where it has no such.
    package func setting(_ name: String) throws(StoreError) -> String {
        try value("SELECT current_setting(\(Self.literal(name)), true)") ?? ""
    }

    /// Names of the schema's steps that were made, without those of tables that the engine has for itself.
    package func steps() throws(StoreError) -> [String] {
        guard try value("SELECT to_regclass('schema_step')") != nil else { return [] }
        return try rows("SELECT name FROM schema_step WHERE name NOT LIKE 'store-%' ORDER BY applied_at_ms, name").compactMap { $0.first ?? nil }
    }

    /// Steps that a program must know; `nil`: nobody has said.
    package func leastLevel() throws(StoreError) -> Int? {
        guard try value("SELECT to_regclass('schema_level')") != nil else { return nil }
        return try value("SELECT least FROM schema_level").flatMap { Int($0) }
    }

    /// The tables of the service, without those of the engine: how far the schema is, and what copies say to one another.
    package func tables() throws(StoreError) -> [String] {
        try rows(
            """
            SELECT relname FROM pg_class WHERE relnamespace = CAST(current_schema() AS regnamespace) AND relkind IN ('r', 'p')
                AND relname NOT IN ('schema_step', 'schema_level', 'schema_lock', 'heartbeat', 'duty', 'commit_mark', 'key_check', 'signing_key')
            ORDER BY relname COLLATE "C"
            """
        ).compactMap { $0.first ?? nil }
    }

    package func columns(of table: String) throws(StoreError) -> [Column] {
        try rows(
            """
            SELECT attname, CAST(atttypid AS regtype) FROM pg_attribute
            WHERE attrelid = CAST(\(Self.literal(Self.quoted(table))) AS regclass) AND attnum > 0 AND NOT attisdropped ORDER BY attnum
            """
        ).map { row in
            let kind: Column.Kind =
                switch row[1] ?? "" {
                case "bigint", "integer", "smallint": .integer
                case "bytea": .bytes
                default: .text
                }
            return Column(name: row[0] ?? "", kind: kind)
        }
    }

    package func count(of table: String) throws(StoreError) -> Int {
        try value("SELECT count(*) FROM \(Self.quoted(table))").flatMap { Int($0) } ?? 0
    }

    /// The least value of a column of numbers; `nil`: there is none.
    package func least(of column: String, in table: String) throws(StoreError) -> Int64? {
        try value("SELECT min(\(Self.quoted(column))) FROM \(Self.quoted(table))").flatMap { Int64($0) }
    }

    /// Lets numbers that the server gives go on behind those that a table has.
    package func advanceNumbers(of table: String) throws(StoreError) {
        for column in try columns(of: table) where column.kind == .integer {
            let (name, sequence) = (
                Self.quoted(column.name), "pg_get_serial_sequence(\(Self.literal(Self.quoted(table))), \(Self.literal(column.name)))"
            )
            guard try value("SELECT \(sequence)") != nil else { continue }
            _ = try rows("SELECT setval(\(sequence), greatest(max(\(name)), 1), max(\(name)) IS NOT NULL) FROM \(Self.quoted(table))")
        }
    }

    /// Standbys that are connected.
    package func standbys() throws(StoreError) -> [Standby] {
        try rows(Standby.query).map { row in
            Standby(name: row[0] ?? "", state: row[1] ?? "", sync: row[2] ?? "", lag: row[3].flatMap { Int64($0) })
        }
    }

    /// Programs of ours that work with the same rows, by their names at the server.
    package func users() throws(StoreError) -> [String] {
        try rows(
            """
            SELECT DISTINCT regexp_replace(application_name, '-heart-.*$', '') FROM pg_stat_activity
            WHERE datname = current_database() AND pid <> pg_backend_pid() AND application_name LIKE 'boxoffice-%' ORDER BY 1
            """
        ).compactMap { $0.first ?? nil }
    }

    /// Copies rows into a table.
    /// - Parameter rows: Hands over one row after another, with a value for each of the columns.
    /// - Throws: `StoreError` of the server, with the column and what is wrong with it; or what `rows` throws.
    package func copy(into table: String, _ columns: [String], _ rows: (_ add: ([StoredValue]) throws -> Void) throws -> Void) throws {
        let list = columns.map(Self.quoted).joined(separator: ", ")
        try whole {
            try connection.direct { raw in
                try Self.begin(raw, "COPY \(Self.quoted(table)) (\(list)) FROM STDIN", PGRES_COPY_IN)
                var piece: [UInt8] = []
                func send() throws {
                    let isSent = piece.withUnsafeBytes { PQputCopyData(raw, $0.bindMemory(to: CChar.self).baseAddress, CInt($0.count)) }
                    guard isSent == 1 else { throw connection.lost() }
                    piece.removeAll(keepingCapacity: true)
                }
                do {
                    try rows { values in
                        CopyText.append(values, to: &piece)
                        if piece.count > 1 << 16 { try send() }
                    }
                    if !piece.isEmpty { try send() }
                } catch {
                    _ = PQputCopyEnd(raw, "given up")
                    _ = try? Self.end(raw)
                    throw error
                }
                guard PQputCopyEnd(raw, nil) == 1 else { throw connection.lost() }
                try Self.end(raw)
            }
        }
    }

    /// Calls with the values of each row of a table.
    package func eachRow(of table: String, _ columns: [Column], _ body: ([StoredValue]) throws -> Void) throws {
        let list = columns.map { Self.quoted($0.name) }.joined(separator: ", ")
        try whole {
            try connection.direct { raw in
                try Self.begin(raw, "COPY (SELECT \(list) FROM \(Self.quoted(table))) TO STDOUT", PGRES_COPY_OUT)
                /// The fault; the rest of the rows is passed over.
                var failure: (any Error)?
                while true {
                    var line: UnsafeMutablePointer<CChar>?
                    let count = PQgetCopyData(raw, &line, 0)
                    guard count >= 0 else {
                        guard count == -1 else { throw connection.lost() }
                        break
                    }
                    defer { PQfreemem(line) }
                    guard failure == nil else { continue }
                    do {
                        try body(CopyText.values(UnsafeRawBufferPointer(start: line, count: Int(count)), columns))
                    } catch {
                        failure = error
                    }
                }
                try Self.end(raw)
                if let failure { throw failure }
            }
        }
    }

    package static func quoted(_ name: String) -> String { "\"\(name)\"" }
    package static func literal(_ text: String) -> String { "'\(text.replacing("'", with: "''"))'" }

    private static func begin(_ raw: OpaquePointer, _ command: String, _ status: ExecStatusType) throws {
        guard let result = PQexec(raw, command) else { throw PostgresError.lost("the server closed the connection") }
        let rows = PostgresRows(result)
        guard rows.status == status else { throw rows.error }
    }

    /// Reads what a copy came to.
    private static func end(_ raw: OpaquePointer) throws {
        var failure: PostgresError?
        while let result = PQgetResult(raw) {
            let rows = PostgresRows(result)
            if rows.status != PGRES_COMMAND_OK { failure = rows.error }
        }
        if let failure { throw failure }
    }

    private func whole<Value>(_ body: () throws -> Value) throws -> Value {
        do {
            return try body()
        } catch let error as PostgresError {
            throw StoreError(error, at: place)
        }
    }

    private static func told<Value>(_ place: String, _ body: () throws -> Value) throws(StoreError) -> Value {
        do {
            return try body()
        } catch {
            throw (error as? StoreError) ?? (error as? PostgresError).map { StoreError($0, at: place) } ?? StoreError(file: place, reason: "\(error)")
        }
    }
}
