public import Faults
public import Storage

/// The store of Automatic Sign-In: its own file, which says of itself whose it is and how it is laid out.
public struct AutoSignInStore: Sendable {
    /// Layout of the tables; grows with each migration.
    static let layout = 1
    private static let owner = "autosignin"

    public static let migrations = [
        Migration(
            "1-metadata",
            sql: """
                CREATE TABLE store_metadata (name TEXT PRIMARY KEY, value TEXT NOT NULL);
                INSERT INTO store_metadata (name, value) VALUES ('owner', '\(owner)'), ('layout', '\(layout)');
                """)
    ]

    private let store: Store

    public init(_ store: Store) { self.store = store }

    /// Reads what the file says of itself.
    /// - Throws: `internal` when it is another service's or has another layout; the fault of the store when it does not answer.
    public func verify() async throws(Fault) {
        let facts = try await store.read { database in
            let rows = try Row.fetchAll(database, sql: "SELECT name, value FROM store_metadata")
            return Dictionary(rows.map { ($0["name"] as String, $0["value"] as String) }) { first, _ in first }
        }
        guard facts["owner"] == Self.owner else {
            throw Fault(.internal, "the store \(store.file) belongs to '\(facts["owner"] ?? "nobody")', not to '\(Self.owner)'")
        }
        guard facts["layout"] == String(Self.layout) else {
            throw Fault(.internal, "the store \(store.file) has the layout \(facts["layout"] ?? "unknown"), not \(Self.layout)")
        }
    }
}
