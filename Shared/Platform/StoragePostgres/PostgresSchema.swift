internal import CPostgres
internal import Foundation
internal import Glibc
internal import Storage

/// Brings a server's schema up to date. Copies that start at the same moment take turns by the row of `schema_lock`, which the server gives back when one dies.
struct PostgresSchema {
    private static let timeout: Duration = .seconds(70)
    private static let bookkeeping = [
        #"CREATE TABLE IF NOT EXISTS schema_lock ("only" BIGINT PRIMARY KEY CHECK ("only" = 1))"#,
        #"CREATE TABLE IF NOT EXISTS schema_step (name TEXT PRIMARY KEY, applied_at_ms BIGINT NOT NULL)"#,
        #"CREATE TABLE IF NOT EXISTS schema_level ("only" BIGINT PRIMARY KEY CHECK ("only" = 1), current BIGINT NOT NULL, least BIGINT NOT NULL)"#,
        #"INSERT INTO schema_lock ("only") VALUES (1) ON CONFLICT ("only") DO NOTHING"#,
    ]
    /// Tables of the engine itself, beside those of a service. Steps of theirs only add, and count in no level.
    static let own = [
        Migration(
            "store-1-copies",
            statements: [
                // Each copy's last sign of life: see `Heartbeat`.
                "CREATE TABLE IF NOT EXISTS heartbeat (holder TEXT PRIMARY KEY, beat_at_ms BIGINT NOT NULL) WITH (fillfactor = 50)",
                "CREATE TABLE IF NOT EXISTS duty (name TEXT PRIMARY KEY, holder TEXT NOT NULL, until_ms BIGINT NOT NULL, fence BIGINT NOT NULL)",
                "CREATE TABLE IF NOT EXISTS commit_mark (id BIGINT PRIMARY KEY, made_at_ms BIGINT NOT NULL)",
                """
                CREATE TABLE IF NOT EXISTS key_check (
                    name TEXT NOT NULL, fingerprint BYTEA NOT NULL, noted_at_ms BIGINT NOT NULL, PRIMARY KEY (name, fingerprint)
                )
                """,
                """
                CREATE TABLE IF NOT EXISTS signing_key (
                    name TEXT NOT NULL, kid TEXT NOT NULL, content TEXT NOT NULL, since_ms BIGINT NOT NULL, seen_ms BIGINT NOT NULL,
                    PRIMARY KEY (name, kid)
                )
                """,
            ], isAdditive: true)
    ]
    private static let ownPrefix = "store-"
    static let leastLevel: Statement = "SELECT least FROM schema_level"

    /// `nil`: the one that the role is given.
    let name: String?
    let steps: [Migration]
    let connection: PostgresConnection
    let place: String

    /// - Throws: `StoreError` when the server's schema is newer than this program, `PostgresError`.
    func bringUpToDate() throws {
        let applied = try appliedSteps()
        if applied.contains(where: { name in !name.hasPrefix(Self.ownPrefix) && !steps.contains { $0.name == name } }) {
            // A newer release only adds, until it says that this one is too old.
            guard let least: Int = try first(Self.leastLevel), steps.count >= least else {
                throw StoreError(
                    file: place, reason: "was changed by a newer version of this service; start that version, or restore a backup")
            }
        }
        guard (Self.own + steps).contains(where: { !applied.contains($0.name) }) else { return }
        try makeSchema()
        try keepBooks()
        for step in Self.own where !applied.contains(step.name) { try apply(step, among: []) }
        for (index, step) in steps.enumerated() where !applied.contains(step.name) { try apply(step, among: Array(steps[...index])) }
    }

    private func appliedSteps() throws -> Set<String> {
        guard let _: String = try first("SELECT CAST(to_regclass('schema_step') AS TEXT)") else { return [] }
        return Set(try rows("SELECT name FROM schema_step").all { $0.next() as String })
    }

    /// Only where it is missing: `IF NOT EXISTS` alone asks for the right to make schemas from a role that needs none.
    private func makeSchema() throws {
        guard let name else { return }
        let isThere: Int? = try first("SELECT CAST(1 AS BIGINT) FROM pg_namespace WHERE nspname = ?", [name])
        if isThere == nil { try make("CREATE SCHEMA IF NOT EXISTS \"\(name)\"") }
    }

    private func keepBooks() throws {
        for statement in Self.bookkeeping { try make(statement) }
    }

    /// Two copies that make one thing at the same moment can be in each other's way.
    private func make(_ statement: String) throws {
        for attempt in 1... {
            do {
                return try connection.run(script: statement)
            } catch let error as PostgresError {
                guard ["23505", "42710", "42P06", "42P07", "40001", "XX000"].contains(error.state), attempt < 10 else { throw error }
                usleep(.random(in: 1000...20_000))
            }
        }
    }

    /// - Parameter steps: That the level counts; empty: it is not one of them.
    private func apply(_ step: Migration, among steps: [Migration]) throws {
        try rows("BEGIN")
        do {
            // With the role's time-outs a large index, or the turn, would be given up.
            try connection.run(
                script: "SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = '60s'; SET LOCAL idle_in_transaction_session_timeout = 0")
            try rows(#"SELECT "only" FROM schema_lock WHERE "only" = 1 FOR UPDATE"#)
            if try rows("SELECT name FROM schema_step WHERE name = ?", [step.name]).affected == 0 {
                for statement in step.statements { try connection.run(script: statement) }
                try rows(
                    "INSERT INTO schema_step (name, applied_at_ms) VALUES (?, CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT))",
                    [step.name])
                if !steps.isEmpty {
                    try rows(
                        """
                        INSERT INTO schema_level ("only", current, least) VALUES (1, ?1, ?2) ON CONFLICT ("only")
                        DO UPDATE SET current = excluded.current, least = excluded.least WHERE excluded.current > schema_level.current
                        """, [steps.count, steps.least])
                }
            }
            try rows("COMMIT")
        } catch {
            _ = try? rows("ROLLBACK")
            throw error
        }
    }

    private func first<Value: ColumnValue>(_ statement: Statement, _ arguments: Arguments = []) throws -> Value? {
        try rows(statement, arguments).first { $0.next() as Value? } ?? nil
    }

    @discardableResult
    private func rows(_ statement: Statement, _ arguments: Arguments = []) throws -> PostgresRows {
        switch try connection.run([PostgresConnection.Command(statement, arguments)], timeout: Self.timeout).first {
        case .rows(let rows): return rows
        case .failed(let error): throw error
        case .skipped, nil: throw PostgresError.lost("the server skipped a statement")
        }
    }
}

/// An answer of the server, in its binary form.
// Nothing changes it after it was made.
final class PostgresRows: StoredRows, @unchecked Sendable {
    private let result: OpaquePointer

    /// - Parameter result: To be cleared with this.
    init(_ result: OpaquePointer) { self.result = result }

    deinit { PQclear(result) }

    var affected: Int { Int(String(cString: PQcmdTuples(result))) ?? 0 }
    /// The tag of the command, for example `COMMIT`.
    var tag: String { String(cString: PQcmdStatus(result)) }
    /// True when rows were changed, and not only read.
    var isChange: Bool { affected > 0 && ["INSERT", "UPDATE", "DELETE"].contains { tag.hasPrefix($0) } }
    var status: ExecStatusType { PQresultStatus(result) }

    /// There is no answer for this reason.
    var error: PostgresError {
        func field(_ code: Character) -> String? { PQresultErrorField(result, CInt(code.asciiValue ?? 0)).map { String(cString: $0) } }
        // The detail has values of the row.
        return PostgresError(state: field("C") ?? "", message: field("M") ?? String(cString: PQresultErrorMessage(result)))
    }

    func each(_ read: (any RowSource) throws -> Bool) throws {
        let count = PQntuples(result)
        guard count > 0 else { return }
        let row = PostgresRow(result)
        while try read(row) {
            guard row.number + 1 < count else { return }
            row.number += 1
        }
    }
}

private final class PostgresRow: RowSource {
    private let result: OpaquePointer
    var number: CInt = 0

    init(_ result: OpaquePointer) { self.result = result }

    func isNull(_ column: Int) -> Bool { PQgetisnull(result, number, CInt(column)) == 1 }

    func integer(_ column: Int) -> Int64 {
        let octets = octets(column)
        switch (PQftype(result, CInt(column)), octets.count) {
        case (Oids.int8, 8), (Oids.int4, 4), (Oids.int2, 2), (Oids.bool, 1):
            let isNegative = octets.count > 1 && octets[0] & 0x80 != 0
            return octets.reduce(isNegative ? -1 : 0) { $0 << 8 | Int64($1) }
        case (let type, _): preconditionFailure("column \(column) is no integer, but of type \(type)")
        }
    }

    func text(_ column: Int) -> String { String(decoding: octets(column), as: UTF8.self) }

    func bytes(_ column: Int) -> [UInt8] { [UInt8](octets(column)) }

    private func octets(_ column: Int) -> UnsafeBufferPointer<UInt8> {
        precondition(!isNull(column), "column \(column) is NULL")
        let count = Int(PQgetlength(result, number, CInt(column)))
        return UnsafeRawBufferPointer(start: PQgetvalue(result, number, CInt(column)), count: count).assumingMemoryBound(to: UInt8.self)
    }
}

/// Numbers of the types that arguments and columns have.
enum Oids {
    static let unknown: Oid = 0
    static let bool: Oid = 16
    static let bytes: Oid = 17
    static let int8: Oid = 20
    static let int2: Oid = 21
    static let int4: Oid = 23
    static let text: Oid = 25

    static func of(_ value: StoredValue) -> Oid {
        switch value {
        case .null: unknown
        case .integer: int8
        case .text: text
        case .bytes: bytes
        }
    }
}
