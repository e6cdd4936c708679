internal import Clocks
internal import Contracts
internal import Faults
public import Storage

/// Everything that `config` keeps: versions of the catalogue, drafts, statements, rules, the audit log.
public struct CatalogueStore: Sendable {
    private let store: Store
    private let documents = DocumentCache()
    private let turn = WriterTurn()
    private let rehearsals = WriterTurn()

    public init(_ store: Store) { self.store = store }

    /// Runs changes in one transaction: all of them are stored, or none. Of all copies one writes at a time: what its changes are based on is the newest.
    func write<Value: Sendable>(now: Timestamp, _ body: @escaping @Sendable (CatalogueLedger) throws -> Value) async throws(Fault) -> Value {
        let write: @Sendable () async throws(Fault) -> Value = { [store, documents] () async throws(Fault) in
            try await store.write { database in
                try Self.takeTurn(database)
                return try body(CatalogueLedger(database: database, now: now, documents: documents))
            }
        }
        return store.isCoherent ? try await write() : try await turn.taken(write)
    }

    /// Runs changes without storing them, where others wait for the turn in which they are stored: documents are then read and checked beforehand. What they end with is
    /// of no interest.
    func rehearse<Value: Sendable>(now: Timestamp, _ body: @escaping @Sendable (CatalogueLedger) throws -> Value) async {
        if store.isCoherent { return }
        // One at a time: those that compute would have all connections.
        _ = try? await rehearsals.taken { [store, documents] () async throws(Fault) in
            try await store.read { try body(CatalogueLedger(database: $0, now: now, documents: documents, isRehearsal: true)) }
        }
    }

    func read<Value: Sendable>(now: Timestamp, _ body: @escaping @Sendable (CatalogueLedger) throws -> Value) async throws(Fault) -> Value {
        try await store.read { [documents] database in
            // What a version that was not taken into account changes is computed, and not kept.
            try body(CatalogueLedger(database: database, now: now, documents: documents, isRehearsal: true))
        }
    }

    /// What is published, as octets, where its version is newer.
    func published(after version: UInt64) async throws(Fault) -> [UInt8]? {
        try await store.value(
            "SELECT content FROM published WHERE version > ? AND content_version = version AND content IS NOT NULL", [Int64(clamping: version)])
    }

    /// A row that every writer changes: an engine that has no turns refuses the later of two all the same.
    private static func takeTurn(_ database: Database) throws {
        try database.takeTurn(at: "store_identity")
        try database.run("UPDATE store_identity SET id = id WHERE \"only\" = 1")
    }
}
