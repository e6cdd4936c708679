import Faults
import Foundation
import Storage
import Synchronization
import Testing

/// Several processes with one file; here several stores, which SQLite treats the same.
@Suite("A file that several processes share")
struct SharedFileTests {
    private static func texts(_ store: Store, cachedIn cache: CoherentCache<Int, String>, _ id: Int) async throws -> String? {
        let epoch: CoherentCache<Int, String>.Epoch
        switch cache.lookup(id) {
        case .hit(let text): return text
        case .miss(let current): epoch = current
        }
        let found = try await store.read { try $0.value("SELECT text FROM note WHERE id = ?", [id]) as String? }
        if let found { cache.offer(found, for: id, readIn: epoch) }
        return found
    }

    /// Four writers in each store; each adds one that many times.
    private static func increments(_ stores: [(Store, CoherentCache<Int, String>)], _ rounds: Int) async -> Result<Void, any Error> {
        do {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for (store, cache) in stores {
                    for _ in 0..<4 {
                        group.addTask {
                            for _ in 0..<rounds {
                                try await store.write { try $0.run("UPDATE note SET text = CAST(text AS INTEGER) + 1 WHERE id = 1") }
                                cache.forget(1)
                            }
                        }
                    }
                }
                try await group.waitForAll()
            }
            return .success(())
        } catch {
            return .failure(error)
        }
    }

    private static func rename(_ store: Store, _ id: Int, _ text: String) async throws {
        try await store.write { try $0.run("UPDATE note SET text = ? WHERE id = ?", [text, id]) }
    }

    @Test("What another process commits is seen by the next look-up, whatever was cached")
    func noticesForeignCommits() async throws {
        let folder = try Folder()
        let (one, other) = (try Store.notes(folder), try Store.notes(folder))
        let cache = CoherentCache<Int, String>(capacity: 16, changes: one.changes)
        try await one.add("first")
        #expect(try await Self.texts(one, cachedIn: cache, 1) == "first")
        for number in 0..<200 {
            if number % 3 == 0 { try await one.add("own \(number)") }
            try await Self.rename(other, 1, "foreign \(number)")
            #expect(try await Self.texts(one, cachedIn: cache, 1) == "foreign \(number)")
        }
    }

    @Test("Own commits, failed writes and writes without effect are not taken for another process's")
    func knowsItsOwnCommits() async throws {
        let folder = try Folder()
        let store = try Store.notes(folder)
        let before = store.generation
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<500 {
                group.addTask {
                    try await store.add("note \(number)")
                    _ = store.generation
                }
            }
            try await group.waitForAll()
        }
        await #expect(throws: Fault.self) { try await store.add("note 1") }
        try await store.write { try $0.run("DELETE FROM note WHERE id = 100000") }
        try await store.write { _ in }
        try await store.add("last")
        #expect(store.generation == before)
    }

    @Test("A change after a write that failed, or had no effect, is noticed")
    func noticesForeignCommitsAfterFailures() async throws {
        let folder = try Folder()
        let (one, other) = (try Store.notes(folder), try Store.notes(folder))
        try await one.add("taken")
        let spoil: [(Store) async throws -> Void] = [
            { store in await #expect(throws: Fault.self) { try await store.add("taken") } },
            { store in _ = try await store.write { try $0.run("DELETE FROM note WHERE id = 100000") } },
            { store in await #expect(throws: Fault.self) { try await store.write { _ in throw Fault(.notFound, "Not there.") } } },
        ]
        for (number, spoil) in spoil.enumerated() {
            try await spoil(one)
            let before = one.generation
            #expect(one.generation == before)
            try await other.add("foreign \(number)")
            #expect(one.generation > before)
        }
    }

    @Test("Two processes that write at the same time lose nothing, and a reader of either never sees a value go back")
    func sharesUnderLoad() async throws {
        let folder = try Folder()
        let stores = [try Store.notes(folder), try Store.notes(folder)]
        try await stores[0].write { try $0.run("INSERT INTO note (id, text) VALUES (1, '0')") }
        let rounds = 150
        let writing = Flag()
        let cached = stores.map { ($0, CoherentCache<Int, String>(capacity: 16, changes: $0.changes)) }
        try await withThrowingTaskGroup(of: Void.self) { readers in
            for (store, cache) in cached {
                readers.addTask {
                    var last = 0
                    while writing.isUp {
                        let seen = Int(try await Self.texts(store, cachedIn: cache, 1) ?? "") ?? -1
                        #expect(seen >= last)
                        last = seen
                        await Task.yield()
                    }
                    #expect(try await Self.texts(store, cachedIn: cache, 1) == "\(rounds * 8)")
                }
            }
            let outcome = await Self.increments(cached, rounds)
            writing.lower()
            try outcome.get()
            try await readers.waitForAll()
        }
        for store in stores {
            #expect(try await store.read { try $0.value("SELECT text FROM note WHERE id = 1") as String? } == "\(rounds * 8)")
        }
    }

    @Test("What a commit wrote is not kept when another process wrote after it")
    func keepsOwnCommitsOnlyWhileTheyAreTheLast() async throws {
        let folder = try Folder()
        let (one, other) = (try Store.notes(folder), try Store.notes(folder))
        let cache = CoherentCache<Int, String>(capacity: 16, changes: one.changes)
        try await one.add("first")
        cache.replace(1, with: "first")
        guard case .hit("first") = cache.lookup(1) else {
            Issue.record("what was committed last was not kept")
            return
        }
        try await Self.rename(one, 1, "own")
        try await Self.rename(other, 1, "foreign")
        // Another lookup reads the change first.
        _ = cache.lookup(2)
        cache.replace(1, with: "own")
        #expect(try await Self.texts(one, cachedIn: cache, 1) == "foreign")
    }

    @Test("copies that start at the same moment on a file that is not there yet lose nothing of each other")
    func startAtOnce() async throws {
        for _ in 0..<15 {
            let folder = try Folder()
            let stores = try await withThrowingTaskGroup(of: Store.self) { group in
                for number in 0..<6 {
                    group.addTask {
                        let store = try Store.notes(folder)
                        try await store.add("of \(number)")
                        return store
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            for store in stores { #expect(try await store.count() == 6) }
        }
    }
}

private final class Flag: Sendable {
    private let state = Atomic(true)

    var isUp: Bool { state.load(ordering: .acquiring) }

    func lower() { state.store(false, ordering: .releasing) }
}
