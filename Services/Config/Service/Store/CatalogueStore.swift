internal import Clocks
internal import Contracts
internal import Faults
public import Storage

/// Everything that `config` keeps: versions of the catalogue, drafts, statements, rules, the audit log.
public struct CatalogueStore: Sendable {
    private let store: Store
    private let documents = DocumentCache()

    public init(_ store: Store) { self.store = store }

    /// Runs changes in one transaction: all of them are stored, or none.
    func write<Value: Sendable>(now: Timestamp, _ body: @escaping @Sendable (CatalogueLedger) throws -> Value) async throws(Fault) -> Value {
        try await store.write { [documents] database in try body(CatalogueLedger(database: database, now: now, documents: documents)) }
    }

    func read<Value: Sendable>(now: Timestamp, _ body: @escaping @Sendable (CatalogueLedger) throws -> Value) async throws(Fault) -> Value {
        try await store.read { [documents] database in try body(CatalogueLedger(database: database, now: now, documents: documents)) }
    }
}
