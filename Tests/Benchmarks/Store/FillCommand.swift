import ArgumentParser
import AuthenticationAdministration
import AuthenticationCore
import Foundation
import GRDB
import Storage
import StorageSqlite

/// Fills a store with sessions. The schema and the first row come from the service's own code; the others are copies of that row under ids of their
/// own.
struct FillCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "fill", abstract: "Fill a store with sessions.")

    @Option(help: "The SQLite file; an earlier one is replaced.")
    var file: String

    @Option(help: "How many sessions.")
    var sessions: Int

    @Option(help: "How many of them a device has, each at an MVPD of its own.")
    var perDevice = 1

    func validate() throws { try Population.check(sessions: sessions, perDevice: perDevice) }

    func run() async throws {
        for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: file + suffix) }
        let store = try Store(file: file, name: "authentication", migrations: AuthenticationDatabase.migrations)
        let now = Int64(Date().timeIntervalSince1970 * 1000)
        try await SessionProbe(AuthenticationDatabase(store)).start(
            device: Population.pattern, requestor: Population.requestor, number: 0, now: now)
        await store.close()
        try multiply()
    }

    /// Without a journal and with the indexes made afterwards: what the file holds in the end is the same.
    private func multiply() throws {
        let database = try DatabaseQueue(path: file)
        try database.writeWithoutTransaction { database in
            let pragmas = [
                "journal_mode = DELETE", "locking_mode = EXCLUSIVE", "synchronous = OFF", "journal_mode = OFF", "cache_size = -3000000",
                "threads = 2",
            ]
            for pragma in pragmas { try database.execute(sql: "PRAGMA \(pragma)") }
            let indexes = try Row.fetchAll(
                database, sql: "SELECT name, sql FROM sqlite_master WHERE type = 'index' AND tbl_name = 'session' AND sql IS NOT NULL")
            for index in indexes { try database.execute(sql: "DROP INDEX \((index["name"] as String).quotedDatabaseIdentifier)") }
            try database.inTransaction {
                try database.execute(
                    sql: insertion(try database.columns(in: "session").map(\.name)), arguments: [sessions, perDevice, Population.pattern])
                try database.execute(sql: "DELETE FROM session WHERE device_id = ?", arguments: [Population.pattern])
                return .commit
            }
            for index in indexes { try database.execute(sql: index["sql"] as String) }
            try database.execute(sql: "PRAGMA locking_mode = NORMAL; PRAGMA journal_mode = WAL")
        }
        try database.close()
    }

    /// Every other column is that of the pattern.
    private func insertion(_ columns: [String]) -> String {
        let own = [
            "device_id": Population.deviceSQL, "id": "printf('session-%08x-%012x', (n * 2246822519) & 4294967295, n)",
            "user_id": "printf('%08x%056x', (n * 3266489917) & 4294967295, n)", "client_id": "printf('client-%08x', (d * 668265263) & 4294967295)",
            "upstream_user_id": "printf('person-%d@north-cable.example', n)", "name_id": "printf('person-%d@north-cable.example', n)",
            "household": "printf('%032x', (n / 3 * 668265263) & 4294967295)",
            "session_index": "printf('_index-%d', n)", "mvpd": "CASE m WHEN 0 THEN mvpd ELSE printf('%s-%d', mvpd, m) END", "number": "m",
            // Spread over the 30 days that a session lasts.
            "expires_at_ms": "expires_at_ms + (n * 2654435761) % 2592000000",
        ]
        let values = columns.map { own[$0] ?? $0.quotedDatabaseIdentifier }
        return """
            WITH RECURSIVE number (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < ?1)
            INSERT INTO session (\(columns.map(\.quotedDatabaseIdentifier).joined(separator: ", ")))
            SELECT \(values.joined(separator: ", "))
            FROM (SELECT n, (n - 1) / ?2 + 1 AS d, (n - 1) % ?2 AS m FROM number) CROSS JOIN session WHERE device_id = ?3
            """
    }
}
