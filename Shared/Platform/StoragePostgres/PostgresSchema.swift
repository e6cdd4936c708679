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
                // Each copy's last sign of life: see `Heart`.
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
