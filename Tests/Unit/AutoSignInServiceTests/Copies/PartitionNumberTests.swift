import Clocks
import Foundation
import Storage
import StorageSqlite
import Testing

@testable import AutoSignInService

/// Letters of a partition have numbers of their own, also those of the release before, which knows none.
@Suite("Numbers of letters")
struct PartitionNumberTests {
    private static let step = "9-lane-numbers"
    private static let now = Timestamp(seconds: 1_930_384_800)

    private static func insertAsBefore(_ partition: String, _ database: Database) throws {
        try database.run(
            """
            INSERT INTO outbox (lane, call, programmer, subject, payload, state, is_claimed, attempts, refused_credentials, is_unclear,
                last_status, created_at_ms, began_at_ms, next_at_ms)
            VALUES (?1, 'end_sessions', 'acme', '', ?2, 0, 0, 0, 0, 0, 0, ?3, ?3, ?3)
            """, [partition, Array("session".utf8), now])
    }

    private static func numbers(_ partition: String, _ store: Store) async throws -> [Int] {
        try await store.read { try $0.values("SELECT lane_no FROM outbox WHERE lane = ? ORDER BY id", [partition]) }
    }

    @Test("letters that are there keep their order, and those of a release that knows no numbers get the next ones")
    func releasesSideBySide() async throws {
        let folder = try TestFolder()
        let file = folder.path + "/autosignin.sqlite"
        let before = AutoSignInStore.migrations.filter { $0.name != Self.step }
        #expect(before.count == AutoSignInStore.migrations.count - 1)
        let old = try Store(file: file, name: "autosignin", migrations: before)
        try await old.write { database in
            for partition in ["sessions:a", "sessions:b", "sessions:a"] { try Self.insertAsBefore(partition, database) }
        }
        let new = try Store(file: file, name: "autosignin", migrations: AutoSignInStore.migrations)
        #expect(try await Self.numbers("sessions:a", new) == [1, 3])
        #expect(try await old.isUnderstood(), "the step only adds")
        let letter = OutboxLetter.endSessions([StreamingSessionID("a")])
        for _ in 0..<3 {
            try await new.write { try $0.enqueue(letter, programmer: ProgrammerID("acme"), now: Self.now) }
            try await old.write { try Self.insertAsBefore("sessions:a", $0) }
        }
        #expect(try await Self.numbers("sessions:a", new) == [1, 3, 4, 5, 6, 7, 8, 9])
        #expect(try await new.read { try $0.waitingLetters(partition: "sessions:a").map(\.id) }.count == 8)
        let due = try await AutoSignInStore(new).dueLetters([.endSessions], now: Self.now, limit: 10)
        #expect(Set(due.map(\.letter.partition)) == ["sessions:a", "sessions:b"] && due.count == 2 && due.contains { $0.id == 1 })
        for store in [old, new] { await store.close() }
    }
}
