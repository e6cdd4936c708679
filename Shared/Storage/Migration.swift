public import GRDB

/// One step of a store's schema. Steps run once, in order, each in its own transaction; a released step is never changed again.
public struct Migration: Sendable {
    /// Unique within the store, for example `1-registration-codes`; recorded in the file.
    public let name: String
    let apply: @Sendable (GRDB.Database) throws -> Void

    /// - Parameters:
    ///   - name: Unique within the store.
    ///   - sql: One or more statements.
    public init(_ name: String, sql: String) {
        self.init(name) { try $0.execute(sql: sql) }
    }

    /// - Parameters:
    ///   - name: Unique within the store.
    ///   - apply: Changes the schema; runs in a transaction.
    public init(_ name: String, apply: @escaping @Sendable (GRDB.Database) throws -> Void) {
        self.name = name
        self.apply = apply
    }
}
