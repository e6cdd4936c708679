import Faults
import Foundation
import Storage
import StorageSqlite
import Testing

@Suite("Durability")
struct DurabilityTests {
    @Test("what was acknowledged is in the files at that moment, so a killed process loses nothing")
    func acknowledgedWritesSurviveAKill() async throws {
        let folder = try Folder()
        let store = try Store.notes(folder)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<100 { group.addTask { try await store.add("note \(number)") } }
            try await group.waitForAll()
        }
        // The files as a kill leaves them: no close, no checkpoint.
        for suffix in ["", "-wal"] {
            try FileManager.default.copyItem(atPath: folder.file("notes.sqlite" + suffix), toPath: folder.file("copy.sqlite" + suffix))
        }
        let copy = try Store(file: folder.file("copy.sqlite"), name: "test", migrations: [notes])
        #expect(try await copy.count() == 100)
    }

    @Test("commits wait for the disk: the journal is WAL and synchronization is full")
    func synchronizationIsFull() async throws {
        let folder = try Folder()
        let store = try Store.notes(folder)
        let (mode, level) = try await store.write { database in
            (try database.value("PRAGMA journal_mode") as String?, try database.value("PRAGMA synchronous") as Int?)
        }
        #expect(mode == "wal")
        #expect(level == 2)
    }

    @Test("a full disk refuses the write, keeps what was acknowledged, and serves again after room is made")
    func fullDiskLosesNothing() async throws {
        let folder = try Folder()
        let store = try Store.notes(folder, limits: StoreLimits(pages: 40))
        var acknowledged = 0
        var refusal: Fault?
        while refusal == nil, acknowledged < 1000 {
            do throws(Fault) {
                try await store.add("\(acknowledged) " + String(repeating: "x", count: 4000))
                acknowledged += 1
            } catch {
                refusal = error
            }
        }
        #expect(refusal?.code == .storageFull)
        #expect(refusal?.isRetryable == true)
        #expect(acknowledged > 5)
        #expect(try await store.count() == acknowledged)
        try await store.write { try $0.run("DELETE FROM note WHERE id = 1") }
        try await store.add("small again")
        #expect(try await store.count() == acknowledged)
    }

    @Test("the size of a store is told beside its bound, and shrinks when rows go")
    func tellsItsSize() async throws {
        let folder = try Folder()
        let store = try Store.notes(folder, limits: StoreLimits(pages: 400))
        let empty = try await store.size()
        #expect(empty.limit == 400 * 4096 && empty.bytes > 0 && empty.bytes < 40 * 4096)
        for number in 0..<50 { try await store.add("\(number) " + String(repeating: "x", count: 8000)) }
        let full = try await store.size()
        #expect(full.bytes > empty.bytes + 50 * 8000)
        try await store.write { try $0.run("DELETE FROM note") }
        #expect(try await store.size().bytes < full.bytes / 2)
    }

    @Test("reads go on while a write holds the writer")
    func readsRunBesideWrites() async throws {
        let folder = try Folder()
        let store = try Store.notes(folder)
        try await store.add("first")
        try await withThrowingTaskGroup(of: Void.self) { group in
            let gate = await Gate.closed(in: store, &group)
            #expect(try await store.count() == 1)
            gate.open()
            try await group.waitForAll()
        }
    }
}
