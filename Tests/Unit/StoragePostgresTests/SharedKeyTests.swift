import Clocks
import Faults
import ManualClocks
import PostgresServer
import Storage
import StoragePostgres
import Testing

/// The keys that copies on several hosts must have alike, and the facts that they tell each other.
@Suite("Keys of copies", .enabled(if: PostgresServer.isHere, PostgresServer.absence))
struct SharedKeyTests {
    private static func keys(_ first: UInt8, _ second: UInt8, older: [UInt8] = []) -> [KeyFingerprint] {
        [KeyFingerprint("one.key", current: [first]), KeyFingerprint("two.key", current: [second], older: older.map { [$0] })]
    }

    @Test("a key that no copy had is named, and nothing is noted then; one that takes over from a known one is taken")
    func fingerprints() async throws {
        try await withNotes { store in
            #expect(try await store.unknownKeys(Self.keys(1, 2)) == [])
            #expect(try await store.unknownKeys(Self.keys(1, 2)) == [])
            #expect(try await store.unknownKeys(Self.keys(1, 9)) == ["two.key"])
            #expect(try await store.unknownKeys(Self.keys(8, 9)) == ["one.key", "two.key"])
            #expect(try await store.unknownKeys(Self.keys(1, 9, older: [7])) == ["two.key"])
            #expect(try await store.unknownKeys(Self.keys(8, 3, older: [2])) == ["one.key"])
            #expect(try await store.unknownKeys(Self.keys(1, 3)) == ["two.key"])
            #expect(try await store.unknownKeys(Self.keys(1, 3, older: [7, 2])) == [])
            // A copy that has not changed yet goes on.
            #expect(try await store.unknownKeys(Self.keys(1, 2)) == [])
            #expect(try await store.unknownKeys(Self.keys(1, 3)) == [])
            // One that runs changed its file.
            try await store.noteKeys(Self.keys(5, 6))
            #expect(try await store.unknownKeys(Self.keys(5, 6)) == [])
        }
    }

    @Test("copies that start at once on nothing with different keys do not all come through")
    func race() async throws {
        let options = try PostgresServer.shared.options()
        let stores = try (0..<4).map { _ in try Store.notes(options) }
        let passed = try await withThrowingTaskGroup { group in
            for (number, store) in stores.enumerated() {
                group.addTask { try await store.unknownKeys([KeyFingerprint("key", current: [UInt8(number)])]).isEmpty ? 1 : 0 }
            }
            return try await group.reduce(0, +)
        }
        #expect(passed == 1)
        for store in stores { await store.close() }
    }

    @Test("every copy counts what the files of any copy hold, since when all could know it; what no file holds any more is gone soon")
    func publicKeys() async throws {
        let options = try PostgresServer.shared.options()
        let (one, other) = (try Store.notes(options), try Store.notes(options))
        let clock = ManualClock(Timestamp(seconds: 1000))
        let (first, second) = (PublicKeyTable(one, name: "token", clock: clock), PublicKeyTable(other, name: "token", clock: clock))
        let (a, b) = ((identifier: "a", content: "A"), (identifier: "b", content: "B"))
        #expect(try await PublicKeyTable(one, name: "another", clock: clock).exchange([(identifier: "x", content: "X")]).count == 1)
        #expect(try await first.exchange([a]).map(\.identifier) == ["a"])
        let began = clock.now()
        clock.advance(by: .seconds(10))
        #expect(try await second.exchange([b]).map(\.content) == ["A", "B"])
        let both = try await first.exchange([a])
        #expect(both.map(\.since) == [began, began + .seconds(10)])
        // The first copy takes the second one's key, and later gives up its own.
        clock.advance(by: .seconds(10))
        #expect(try await first.exchange([a, b]) == both)
        clock.advance(by: .seconds(15))
        #expect(try await first.exchange([b]) == both)
        clock.advance(by: .seconds(10))
        #expect(try await first.exchange([b]) == [both[1]])
        #expect(try await second.exchange([b]) == [both[1]])
        // It comes back: within a day it is no new one.
        #expect(try await first.exchange([a, b]) == both)
        clock.advance(by: .seconds(100_000))
        let again = try await second.exchange([a])
        #expect(again.map(\.since) == [clock.now()])
        #expect(try await one.value("SELECT count(*) FROM signing_key WHERE name = 'token'") == 1)
        await one.close()
        await other.close()
    }
}
