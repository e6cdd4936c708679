import Faults
import Foundation
import Storage
import Synchronization
import Testing

@Suite("Reads that share a snapshot")
struct GroupReadTests {
    /// Occupies all readers of a store, so that a test decides which reads wait together.
    private static func occupied(_ store: Store, _ group: inout ThrowingTaskGroup<Void, any Error>, readers: Int) async -> ReaderGate {
        let gate = ReaderGate()
        for _ in 0..<readers { group.addTask { try await store.read { _ in gate.hold() } } }
        await gate.untilHeld(by: readers)
        return gate
    }

    @Test("reads that wait together are answered each with its own result, and a failing one leaves the others alone")
    func sharesSnapshots() async throws {
        let folder = try Folder()
        let store = try Store.notes(folder, limits: StoreLimits(readers: 2))
        for number in 0..<10 { try await store.add("note \(number)") }
        try await withThrowingTaskGroup(of: Void.self) { group in
            let gate = await Self.occupied(store, &group, readers: 2)
            for number in 0..<100 {
                group.addTask {
                    let found = try await store.read {
                        try $0.value("SELECT text FROM note WHERE id = ?", [number % 10 + 1]) as String?
                    }
                    #expect(found == "note \(number % 10)")
                }
                if number.isMultiple(of: 10) {
                    group.addTask {
                        await #expect(throws: Fault.self) { try await store.read { try $0.value("SELECT x FROM nowhere") as Int? } }
                    }
                }
            }
            gate.open(readers: 2)
            try await group.waitForAll()
        }
    }

    @Test("a reader sees every write that was acknowledged before it asked, with any other readers in its group")
    func readsOwnWrites() async throws {
        let folder = try Folder()
        let store = try Store.notes(folder, limits: StoreLimits(readers: 2))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for writer in 0..<16 {
                group.addTask {
                    for number in 0..<40 {
                        let text = "\(writer) \(number)"
                        try await store.add(text)
                        let found = try await store.read { try $0.value("SELECT 1 FROM note WHERE text = ?", [text]) as Int? }
                        #expect(found == 1, "\(text)")
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    @Test("over the limit of waiting reads, a read is refused at once as overloaded")
    func refusesTooMany() async throws {
        let folder = try Folder()
        let store = try Store.notes(folder, limits: StoreLimits(waitingReads: 3, readers: 1))
        try await withThrowingTaskGroup(of: Void.self) { group in
            let gate = await Self.occupied(store, &group, readers: 1)
            let refused = Refusals()
            for _ in 0..<6 {
                group.addTask {
                    do {
                        _ = try await store.count()
                    } catch let fault as Fault where fault.code == .overloaded {
                        refused.count.add(1, ordering: .relaxed)
                    }
                }
            }
            try await eventually("4 are refused") { refused.count.load(ordering: .relaxed) == 4 }
            gate.open(readers: 1)
            try await group.waitForAll()
        }
    }

    @Test("after a close reads fail instead of waiting")
    func failsWhenClosed() async throws {
        let folder = try Folder()
        let store = try Store.notes(folder)
        await store.close()
        await #expect(throws: Fault.self) { _ = try await store.count() }
    }

    @Test("columns are read in the order of the list, NULL among them")
    func readsColumns() async throws {
        let folder = try Folder()
        let store = try Store.notes(folder)
        try await store.add("a")
        try await store.add("b")
        let found = try await store.read { database in
            try database.all("SELECT id, text, NULL, x'0102' FROM note WHERE id > ? ORDER BY id", [0]) { columns in
                let (id, text): (Int, String) = (columns.next(), columns.next())
                let nothing: String? = columns.next()
                let octets: [UInt8] = columns.next()
                return "\(id) \(text) \(nothing ?? "-") \(octets)"
            }
        }
        #expect(found == ["1 a - [1, 2]", "2 b - [1, 2]"])
        let none = try await store.read { try $0.first("SELECT text FROM note WHERE id = ?", [3]) { $0.next() as String } }
        #expect(none == nil)
    }
}

private final class Refusals: Sendable {
    let count = Atomic(0)
}

/// Holds readers until it is opened. The waits are bounded, so that a broken test ends.
private final class ReaderGate: Sendable {
    private let entered = DispatchSemaphore(value: 0)
    private let opened = DispatchSemaphore(value: 0)

    func hold() {
        entered.signal()
        _ = opened.wait(timeout: .now() + 20)
    }

    func untilHeld(by readers: Int) async {
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async { [entered] in
                for _ in 0..<readers { _ = entered.wait(timeout: .now() + 20) }
                continuation.resume()
            }
        }
    }

    func open(readers: Int) { for _ in 0..<readers { opened.signal() } }
}
