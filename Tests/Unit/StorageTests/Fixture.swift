import Clocks
import Faults
import Foundation
import GRDB
import Storage
import StorageSqlite
import Synchronization

/// A folder of its own for one test; removed with the fixture.
final class Folder: Sendable {
    let path: String

    init() throws {
        path = FileManager.default.temporaryDirectory.appendingPathComponent("boxoffice-storage-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    func file(_ name: String) -> String { path + "/" + name }
}

let notes = Migration(
    "1-notes", sql: "CREATE TABLE note (id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE, expires_at_ms INTEGER NOT NULL DEFAULT 0)")

extension Store {
    static func notes(_ folder: Folder, limits: StoreLimits = StoreLimits()) throws -> Store {
        try Store(file: folder.file("notes.sqlite"), name: "test", migrations: [StorageTests.notes], limits: limits)
    }

    func add(_ text: String, expiresAt: Timestamp = Timestamp(milliseconds: 0)) async throws(Fault) {
        try await write { try $0.run("INSERT INTO note (text, expires_at_ms) VALUES (?, ?)", [text, expiresAt]) }
    }

    /// The generation of changes by others, which SQLite always tells.
    var generation: UInt64 { changes?.generation ?? 0 }

    func count() async throws(Fault) -> Int {
        try await read { try $0.value("SELECT count(*) FROM note") as Int? ?? 0 }
    }
}

/// Holds the store's writer until it is opened, so that a test decides which writes wait together.
final class Gate: Sendable {
    private let entered = DispatchSemaphore(value: 0)
    private let opened = DispatchSemaphore(value: 0)

    /// Occupies the writer; returns once it does. The waits are bounded, so that a broken test ends.
    static func closed(in store: Store, _ group: inout ThrowingTaskGroup<Void, any Error>) async -> Gate {
        let gate = Gate()
        group.addTask {
            try await store.write { _ in
                gate.entered.signal()
                _ = gate.opened.wait(timeout: .now() + 20)
            }
        }
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                _ = gate.entered.wait(timeout: .now() + 20)
                continuation.resume()
            }
        }
        return gate
    }

    func open() { opened.signal() }

    /// Opens once that many writes wait.
    func open(whenWaiting count: Int, in store: Store) async throws {
        defer { open() }
        try await eventually("\(count) writes wait") { store.waitingWrites == count }
    }
}

struct NotInTime: Error { let what: String }

/// Waits for a condition, at most a minute.
func eventually(_ what: String, _ condition: () async throws -> Bool) async throws {
    let end = ContinuousClock.now.advanced(by: .seconds(60))
    while try await !condition() {
        guard ContinuousClock.now < end else { throw NotInTime(what: what) }
        await Task.yield()
    }
}

/// Counts the commits, as SQLite makes them.
final class CommitCounter: TransactionObserver, Sendable {
    private let commits = Atomic(0)

    /// Commits after the one that began the watch.
    var count: Int { commits.load(ordering: .relaxed) - 1 }

    static func watching(_ store: Store) async throws -> CommitCounter {
        let counter = CommitCounter()
        try await store.write { try $0.onSqlite { $0.add(transactionObserver: counter, extent: .databaseLifetime) } }
        return counter
    }

    func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool { true }
    func databaseDidChange(with event: DatabaseEvent) {}
    func databaseDidCommit(_ db: GRDB.Database) { commits.add(1, ordering: .relaxed) }
    func databaseDidRollback(_ db: GRDB.Database) {}
}
