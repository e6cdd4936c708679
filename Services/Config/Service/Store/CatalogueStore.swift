internal import ContractRuntime
public import Clocks
public import Contracts
public import Faults
internal import Foundation
public import Storage

/// The versions of the catalogue and the ids of software statements.
public struct CatalogueStore: Sendable {
    public static let migrations = [
        Migration(
            "1-catalogue",
            sql: """
                CREATE TABLE catalogue_version (
                    version INTEGER PRIMARY KEY,
                    changed_at_ms INTEGER NOT NULL,
                    -- An encoded Configuration, without version and moment.
                    content BLOB NOT NULL
                );
                CREATE TABLE software_statement (
                    application_id TEXT PRIMARY KEY,
                    software_id TEXT NOT NULL UNIQUE,
                    created_at_ms INTEGER NOT NULL
                );
                """)
    ]

    private let store: Store

    public init(_ store: Store) { self.store = store }

    /// The newest version, or `nil` in a new store.
    public func newest() async throws(Fault) -> Configuration? {
        try await store.read { try Self.newest($0) }
    }

    /// Keeps the content as a new version, unless it is the newest version's.
    ///
    /// A version is one more than the last, and never below the seconds since 1970: a store that starts anew does not reuse a number that
    /// somebody still holds.
    /// - Parameter content: Version, moment and software ids do not count.
    /// - Returns: The newest version afterwards, and whether it is a new one.
    public func accept(_ content: Configuration, now: Timestamp) async throws(Fault) -> (configuration: Configuration, isNew: Bool) {
        try await store.write { database in
            var content = content
            content.version = 0
            content.changedAtMilliseconds = 0
            for index in content.applications.indices {
                content.applications[index].softwareIDs = [try Self.softwareID(of: content.applications[index].id, database, now)]
            }
            let newest = try Self.newest(database)
            let bytes = try content.serialized()
            if let newest, try Self.content(newest) == bytes { return (newest, false) }
            content.version = max((newest?.version ?? 0) + 1, UInt64(max(0, now.seconds)))
            content.changedAtMilliseconds = UInt64(max(0, now.milliseconds))
            try database.execute(
                sql: "INSERT INTO catalogue_version (version, changed_at_ms, content) VALUES (?, ?, ?)",
                arguments: [Int64(content.version), now, Data(bytes)])
            return (content, true)
        }
    }

    private static func newest(_ database: Database) throws -> Configuration? {
        let row = try Row.fetchOne(
            database, sql: "SELECT version, changed_at_ms, content FROM catalogue_version ORDER BY version DESC LIMIT 1")
        guard let row else { return nil }
        let content: Data = row["content"]
        var configuration = try Configuration(serialized: [UInt8](content))
        configuration.version = UInt64(row["version"] as Int64)
        configuration.changedAtMilliseconds = UInt64(row["changed_at_ms"] as Int64)
        return configuration
    }

    private static func content(_ configuration: Configuration) throws -> [UInt8] {
        var content = configuration
        content.version = 0
        content.changedAtMilliseconds = 0
        return try content.serialized()
    }

    /// An application keeps its id for ever, also when it leaves the catalogue and comes back.
    private static func softwareID(of application: String, _ database: Database, _ now: Timestamp) throws -> String {
        let known = try String.fetchOne(
            database, sql: "SELECT software_id FROM software_statement WHERE application_id = ?", arguments: [application])
        if let known { return known }
        let made = UUID().uuidString.lowercased()
        try database.execute(
            sql: "INSERT INTO software_statement (application_id, software_id, created_at_ms) VALUES (?, ?, ?)",
            arguments: [application, made, now])
        return made
    }
}
