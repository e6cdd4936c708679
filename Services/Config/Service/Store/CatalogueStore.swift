internal import Clocks
internal import Contracts
internal import Faults
public import Storage
internal import Synchronization

/// Everything that `config` keeps: versions of the catalogue, drafts, statements, rules, the audit log.
public struct CatalogueStore: Sendable {
    private let store: Store
    private let documents = DocumentCache()
    private let turn = WriterTurn()
    private let rehearsals = WriterTurn()

    public init(_ store: Store) { self.store = store }

    /// Runs changes in one transaction: all of them are stored, or none. Only one copy writes at a time: its changes are based on the newest version.
    func write<Value: Sendable>(now: Timestamp, _ body: @escaping @Sendable (CatalogueLedger) throws -> Value) async throws(Fault) -> Value {
        let write: @Sendable () async throws(Fault) -> Value = { [store, documents] () async throws(Fault) in
            try await store.write { database in
                try Self.takeTurn(database)
                return try body(CatalogueLedger(database: database, now: now, documents: documents))
            }
        }
        return store.isCoherent ? try await write() : try await turn.taken(write)
    }

    /// Runs changes without storing them, where others wait for the turn in which they are stored: documents are then read and checked beforehand.
    /// The end of them is of no interest.
    func rehearse<Value: Sendable>(now: Timestamp, _ body: @escaping @Sendable (CatalogueLedger) throws -> Value) async {
        if store.isCoherent { return }
        // One at a time: those that compute would have all connections.
        _ = try? await rehearsals.taken { [store, documents] () async throws(Fault) in
            try await store.read { try body(CatalogueLedger(database: $0, now: now, documents: documents, isRehearsal: true)) }
        }
    }

    func read<Value: Sendable>(now: Timestamp, _ body: @escaping @Sendable (CatalogueLedger) throws -> Value) async throws(Fault) -> Value {
        try await store.read { [documents] database in
            // The changes of a version that was not taken into account are computed, and not kept.
            try body(CatalogueLedger(database: database, now: now, documents: documents, isRehearsal: true))
        }
    }

    /// The published content, as octets, where its version is newer.
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

/// Lets one writer in at a time, in the order in which they came. Writers of one copy do not wait in the store, where each would hold a connection.
final class WriterTurn: Sendable {
    /// Writers that wait.
    private static let most = 4096

    private struct State {
        var isTaken = false
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())

    /// - Throws: `overloaded` when too many wait, and what the body throws.
    func taken<Value: Sendable>(_ body: @Sendable () async throws(Fault) -> Value) async throws(Fault) -> Value {
        guard state.withLock({ $0.waiting.count < Self.most }) else {
            throw Fault(.overloaded, "Too many changes of the catalogue wait.", retryAfter: .milliseconds(500))
        }
        await enter()
        defer { leave() }
        return try await body()
    }

    private func enter() async {
        await withCheckedContinuation { continuation in
            let isFree = state.withLock { state in
                defer { state.isTaken = true }
                if state.isTaken { state.waiting.append(continuation) }
                return !state.isTaken
            }
            if isFree { continuation.resume() }
        }
    }

    private func leave() {
        let next = state.withLock { state -> CheckedContinuation<Void, Never>? in
            state.isTaken = !state.waiting.isEmpty
            return state.waiting.isEmpty ? nil : state.waiting.removeFirst()
        }
        next?.resume()
    }
}
