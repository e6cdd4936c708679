public import GRDB

/// One step of a store's schema. Steps run once, in order, each in its own transaction; a released step is never changed again.
public struct Migration: Sendable {
    /// Unique within the store, for example `1-registration-codes`; recorded in the file.
    public let name: String
    /// Whether the release before, which does not know the step, can go on with the file after it: it adds tables, indexes, or columns that may be left out.
    let isAdditive: Bool
    let apply: @Sendable (GRDB.Database) throws -> Void

    /// - Parameters:
    ///   - name: Unique within the store.
    ///   - sql: One or more statements.
    ///   - isAdditive: Whether the release before can go on with the file after the step.
    public init(_ name: String, sql: String, isAdditive: Bool = false) {
        self.init(name, isAdditive: isAdditive) { try $0.execute(sql: sql) }
    }

    /// - Parameters:
    ///   - name: Unique within the store.
    ///   - isAdditive: Whether the release before can go on with the file after the step.
    ///   - apply: Changes the schema; runs in a transaction.
    public init(_ name: String, isAdditive: Bool = false, apply: @escaping @Sendable (GRDB.Database) throws -> Void) {
        self.name = name
        self.isAdditive = isAdditive
        self.apply = apply
    }
}
