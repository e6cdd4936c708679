import Clocks
import Faults
import Foundation
import Logging
import Storage
import Synchronization
import Testing

@testable import StorageSqlite

/// Write-ahead log and free pages of a store that is written all the time.
@Suite("Journal and free pages", .serialized)
struct JournalTests {
    private static let text = String(repeating: "x", count: 3000)

    private static func size(_ folder: Folder, _ suffix: String = "-wal") -> Int {
        (try? FileManager.default.attributesOfItem(atPath: folder.file("notes.sqlite" + suffix))[.size] as? Int) ?? 0
    }

    private final class End: Sendable {
        let hasCome = Atomic(false)
    }

    /// Writes and removes rows of about a page each.
    private static func work(_ store: Store, rounds: Int) async throws {
        for round in 0..<rounds {
            try await store.write { database in
                for number in 0..<100 {
                    try database.run("INSERT INTO note (text) VALUES (?)", ["\(round) \(number) \(text) \(UInt64.random(in: 0 ... .max))"])
                }
                try database.run("DELETE FROM note WHERE id <= (SELECT max(id) FROM note) - 500", [])
            }
        }
    }

    @Test("readers that are always there do not let the journal grow without an end")
    func constantReaders() async throws {
        let folder = try Folder()
        let store = try Store.notes(folder)
        let end = End()
        var most = 0
        try await withThrowingTaskGroup(of: Void.self) { group in
            // More than there are readers: one is always at work.
            for _ in 0..<6 {
                group.addTask {
                    while !end.hasCome.load(ordering: .relaxed) {
                        _ = try await store.read { try $0.value("SELECT count(*) FROM note") as Int? }
                    }
                }
            }
            for _ in 0..<250 {
                try await Self.work(store, rounds: 1)
                most = max(most, Self.size(folder))
            }
            end.hasCome.store(true, ordering: .relaxed)
            try await group.waitForAll()
        }
        // 250 rounds write 170 MiB and more. A machine that is busy otherwise lets readers hold their snapshots for longer.
        #expect(most <= 2 * Journal.most, "\(most)")
        await store.close()
    }

    @Test("a snapshot that lasts lets the journal grow, writes go on beside it, and the journal is cut when it ends")
    func longReader() async throws {
        let folder = try Folder()
        let store = try Store.notes(folder)
        try await store.add("first")
        let copy = try SqliteMaintenance(file: folder.file("notes.sqlite"))
        let start = ContinuousClock.now
        try await Self.work(store, rounds: 120)
        let took = start.duration(to: .now)
        let grown = Self.size(folder)
        #expect(grown > Journal.most)
        #expect(try copy.count(of: "note") == 1, "its snapshot is the one from before")
        copy.close()
        // The writer tries again after a pause, of eight seconds at most.
        try await Task.sleep(for: .milliseconds(8100))
        try await Self.work(store, rounds: 2)
        #expect(Self.size(folder) <= Journal.usual, "\(Self.size(folder)) after \(grown), in \(took)")
        await store.close()
    }

    @Test("rows that come and go do not let the file grow: their pages are used again, and the store says how many are free")
    func freePages() async throws {
        let folder = try Folder()
        let store = try Store.notes(folder)
        try await Self.work(store, rounds: 30)
        let pages: @Sendable () async throws -> (all: Int, free: Int) = {
            try await store.read { database in
                ((try database.value("PRAGMA page_count") as Int?) ?? 0, (try database.value("PRAGMA freelist_count") as Int?) ?? 0)
            }
        }
        let before = try await pages()
        try await Self.work(store, rounds: 100)
        let after = try await pages()
        #expect(after.all <= before.all * 11 / 10, "\(before) then \(after)")
        #expect(after.free <= after.all / 2)
        await store.close()
    }
}
