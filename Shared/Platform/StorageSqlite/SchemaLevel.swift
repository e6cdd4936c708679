internal import Foundation
internal import GRDB
internal import Storage

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
