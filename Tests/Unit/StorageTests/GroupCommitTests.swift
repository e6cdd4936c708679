import Faults
import Foundation
import Storage
import StorageSqlite
import Synchronization
import Testing

@Suite("Group commit")
struct GroupCommitTests {
    @Test("writes of many callers share few commits")
    func writesShareCommits() async throws {
        let folder = try Folder()
        let store = try Store.notes(folder)
        let commits = try await CommitCounter.watching(store)
        try await withThrowingTaskGroup(of: Void.self) { group in
            let gate = await Gate.closed(in: store, &group)
            for number in 0..<400 { group.addTask { try await store.add("note \(number)") } }
            try await gate.open(whenWaiting: 400, in: store)
            try await group.waitForAll()
        }
        #expect(try await store.count() == 400)
        #expect(commits.count <= 5)
    }

    @Test("a failing write leaves the others of its commit alone")
    func failingWriteIsIsolated() async throws {
        let folder = try Folder()
        let store = try Store.notes(folder)
        try await store.add("taken")
        let commits = try await CommitCounter.watching(store)
        try await withThrowingTaskGroup(of: Void.self) { group in
            let gate = await Gate.closed(in: store, &group)
            for number in 0..<20 { group.addTask { try await store.add("note \(number)") } }
            for _ in 0..<10 { group.addTask { await #expect(throws: Fault.self) { try await store.add("taken") } } }
            try await gate.open(whenWaiting: 30, in: store)
            try await group.waitForAll()
        }
        #expect(try await store.count() == 21)
        #expect(commits.count <= 2)
    }

    @Test("a write that throws after a statement leaves nothing behind and hands its fault over unchanged")
    func thrownFaultUndoesTheWrite() async throws {
        let folder = try Folder()
        let store = try Store.notes(folder)
        let fault = await #expect(throws: Fault.self) {
            try await store.write { database in
                try database.run("INSERT INTO note (text) VALUES ('half')")
                throw Fault(.invalidRegistrationCode, "no such code")
            }
        }
        #expect(fault?.code == .invalidRegistrationCode)
        #expect(try await store.count() == 0)
    }

    @Test("a constraint that fails only at commit is answered to its writer alone")
    func deferredConstraintBlamesItsWriter() async throws {
        let folder = try Folder()
        let children = Migration(
            "2-child", sql: "CREATE TABLE child (note INTEGER NOT NULL REFERENCES note (id) DEFERRABLE INITIALLY DEFERRED)")
        let store = try Store(file: folder.file("notes.sqlite"), name: "test", migrations: [notes, children])
        try await withThrowingTaskGroup(of: Void.self) { group in
            let gate = await Gate.closed(in: store, &group)
            group.addTask {
                await #expect(throws: Fault.self) { try await store.write { try $0.run("INSERT INTO child (note) VALUES (999)") } }
            }
            group.addTask { try await store.add("bystander") }
            try await gate.open(whenWaiting: 2, in: store)
            try await group.waitForAll()
        }
        #expect(try await store.count() == 1)
        #expect(try await store.read { try $0.value("SELECT count(*) FROM child") as Int? } == 0)
    }

    @Test("what memory is to know it hears in the order of the commits, before the writers do, and only of what is stored")
    func tellsInOrder() async throws {
        let folder = try Folder()
        let store = try Store.notes(folder)
        let told = Deliveries()
        try await store.add("taken")
        let stored = try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<200 {
                group.addTask {
                    let text = number.isMultiple(of: 10) ? "taken" : "note \(number)"
                    let id = try? await store.write(
                        { database in
                            try database.value("INSERT INTO note (text) VALUES (?) RETURNING id", [text]) as Int? ?? 0
                        }, whenCommitted: { told.note($0) })
                    if let id { #expect(told.ids.contains(id)) }
                }
            }
            try await group.waitForAll()
            return try await store.read { try $0.values("SELECT id FROM note WHERE text <> 'taken' ORDER BY id") as [Int] }
        }
        #expect(stored.count == 180)
        #expect(told.ids == stored)
    }

    @Test("writers that come again and again share commits, each of all of them")
    func waitsForThoseWhoComeAgain() async throws {
        let folder = try Folder()
        let store = try Store.notes(folder, limits: StoreLimits(gathering: .milliseconds(100)))
        let commits = try await CommitCounter.watching(store)
        try await withThrowingTaskGroup(of: Void.self) { group in
            let gate = await Gate.closed(in: store, &group)
            for writer in 0..<8 {
                group.addTask { for number in 0..<50 { try await store.add("note \(number) of \(writer)") } }
            }
            try await gate.open(whenWaiting: 8, in: store)
            try await group.waitForAll()
        }
        #expect(try await store.count() == 400)
        #expect(commits.count < 100)
    }

    @Test("a close does not wait for writes that will not come")
    func closeEndsTheWait() async throws {
        let folder = try Folder()
        let store = try Store.notes(folder, limits: StoreLimits(gathering: .milliseconds(100)))
        try await withThrowingTaskGroup(of: Void.self) { group in
            let gate = await Gate.closed(in: store, &group)
            for number in 0..<8 { group.addTask { try await store.add("note \(number)") } }
            try await gate.open(whenWaiting: 8, in: store)
            try await group.waitForAll()
        }
        await withTaskGroup(of: Void.self) { group in
            group.addTask { try? await store.add("last") }
            group.addTask { await store.close() }
        }
        let count = try await Store.notes(folder).count()
        #expect(count == 8 || count == 9)
    }

    @Test("over the limit of waiting writes, a write is refused at once as overloaded")
    func fullQueueRefuses() async throws {
        let folder = try Folder()
        let store = try Store.notes(folder, limits: StoreLimits(waitingWrites: 1))
        try await withThrowingTaskGroup(of: Void.self) { group in
            let gate = await Gate.closed(in: store, &group)
            group.addTask { try await store.add("waits") }
            try await eventually("one write waits") { store.waitingWrites == 1 }
            let fault = await #expect(throws: Fault.self) { try await store.add("refused") }
            #expect(fault?.code == .overloaded)
            #expect(fault?.retryAfter != nil)
            gate.open()
            try await group.waitForAll()
        }
        #expect(try await store.count() == 1)
    }

    @Test("a close stores what waits and refuses what comes after it")
    func closeFlushes() async throws {
        let folder = try Folder()
        let store = try Store.notes(folder)
        try await withThrowingTaskGroup(of: Void.self) { group in
            let gate = await Gate.closed(in: store, &group)
            for number in 0..<20 { group.addTask { try await store.add("note \(number)") } }
            try await eventually("all wait") { store.waitingWrites == 20 }
            group.addTask { await store.close() }
            gate.open()
            try await group.waitForAll()
        }
        let fault = await #expect(throws: Fault.self) { try await store.add("late") }
        #expect(fault?.code == .unavailable)
        #expect(try await Store.notes(folder).count() == 20)
    }
}

/// The changes that a test's memory has received.
private final class Deliveries: Sendable {
    private let heard = Mutex<[Int]>([])

    var ids: [Int] { heard.withLock { $0 } }

    func note(_ id: Int) { heard.withLock { $0.append(id) } }
}
