internal import Foundation
public import Storage
internal import StorageSqlite

/// Compares the tables of two engines.
public enum EngineSchemas {
    /// The differences between the columns of the two, a line each: `TABLE.COLUMN TYPE`, with `-` where PostgreSQL lacks it and `+` where only
    /// PostgreSQL has it. SQLite reads both texts: so it needs no server.
    public static func differences(sqlite: [Migration], postgres: [Migration]) async throws -> [String] {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("schemas-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let ours = try await columns(of: sqlite, folder + "/sqlite.sqlite")
        let theirs = try await columns(
            of: postgres.map { Migration($0.name, statements: $0.statements.map(forSqlite)) },
            folder + "/postgres.sqlite")
        return ours.subtracting(theirs).sorted().map { "- \($0)" } + theirs.subtracting(ours).sorted().map { "+ \($0)" }
    }

    private static func columns(of migrations: [Migration], _ file: String) async throws -> Set<String> {
        let store = try Store(file: file, name: "schemas", migrations: migrations)
        let columns = try await store.read { database in
            try database.all(
                """
                SELECT owner.name, info.name, info.type, info."notnull" OR info.pk FROM sqlite_master AS owner, pragma_table_info(owner.name) AS info
                WHERE owner.type = 'table' AND owner.name NOT IN ('schema_level', 'grdb_migrations') AND owner.name NOT LIKE 'sqlite_%'
                """
            ) { columns in
                let (table, column, type): (String, String, String) = (columns.next(), columns.next(), columns.next())
                return "\(table).\(column) \(types[type] ?? type)\(columns.next() as Bool ? " NOT NULL" : "")"
            }
        }
        await store.close()
        return Set(columns)
    }

    private static func forSqlite(_ statement: String) -> String {
        statement.replacingOccurrences(of: #" COLLATE "C""#, with: "").replacingOccurrences(of: "ADD COLUMN IF NOT EXISTS", with: "ADD COLUMN")
    }

    private static let types = ["INTEGER": "BIGINT", "BLOB": "BYTEA", "BIGSERIAL": "BIGINT"]
}
