import Clocks
import Logging
import ManualClocks
import Storage
import Testing

@Suite("Sweeper")
struct SweeperTests {
    private let now = Timestamp(seconds: 1_000_000)

    private func sweeper(_ store: Store, _ sweep: Sweep) -> Sweeper {
        Sweeper(store: store, name: "test", sweeps: [sweep], clock: ManualClock(now), logger: Logger(label: "test"))
    }

    @Test("removes expired rows in batches and leaves the others")
    func removesInBatches() async throws {
        let folder = try Folder()
        let store = try Store.notes(folder)
        for number in 0..<25 { try await store.add("old \(number)", expiresAt: now - .seconds(number)) }
        try await store.add("young", expiresAt: now + .milliseconds(1))
        let commits = try await CommitCounter.watching(store)
        let sweep = Sweep(table: "note", key: ["id"], expiryColumn: "expires_at_ms", batchSize: 10)
        #expect(try await sweeper(store, sweep).sweep(sweep) == 25)
        #expect(commits.count == 3)
        #expect(try await store.read { try $0.values("SELECT text FROM note") as [String] } == ["young"])
    }

    @Test("rows stay for their grace")
    func keepsGrace() async throws {
        let folder = try Folder()
        let store = try Store.notes(folder)
        try await store.add("just expired", expiresAt: now - .seconds(3600))
        try await store.add("long expired", expiresAt: now - .seconds(90_000))
        let sweep = Sweep(table: "note", key: ["id"], expiryColumn: "expires_at_ms", grace: .seconds(86_400))
        #expect(try await sweeper(store, sweep).sweep(sweep) == 1)
        #expect(try await store.read { try $0.values("SELECT text FROM note") as [String] } == ["just expired"])
    }

    @Test("ends that are too far are brought to where they may be, in batches, of the rows that it is for; then they end as others do")
    func shortensEnds() async throws {
        let folder = try Folder()
        let store = try Store.notes(folder)
        for number in 0..<25 { try await store.add("far \(number)", expiresAt: Timestamp(milliseconds: 1 << 60) + .seconds(number)) }
        try await store.add("kept", expiresAt: Timestamp(milliseconds: 1 << 60))
        try await store.add("near", expiresAt: now + .seconds(99))
        let sweep = Sweep(
            table: "note", key: ["id"], expiryColumn: "expires_at_ms", batchSize: 10, farthest: Sweep.Limit(.seconds(100), of: "text <> 'kept'"))
        #expect(try await sweeper(store, sweep).sweep(sweep) == 0)
        func ends(_ text: String) async throws -> Set<Int64> {
            Set(try await store.read { try $0.values("SELECT expires_at_ms FROM note WHERE text LIKE ? || '%'", [text]) as [Int64] })
        }
        #expect(try await ends("far") == [(now + .seconds(100)).milliseconds])
        #expect(try await ends("kept") == [1 << 60])
        #expect(try await ends("near") == [(now + .seconds(99)).milliseconds])
        let later = Sweeper(
            store: store, name: "test", sweeps: [sweep], clock: ManualClock(now + .seconds(100)), logger: Logger(label: "test"))
        #expect(try await later.sweep(sweep) == 26)
    }

    @Test("runs until it is cancelled, also when its table is missing")
    func endsWhenCancelled() async throws {
        let folder = try Folder()
        let store = try Store.notes(folder)
        try await store.add("old", expiresAt: now)
        let sweeps = [
            Sweep(table: "note", key: ["id"], expiryColumn: "expires_at_ms"), Sweep(table: "absent", key: ["id"], expiryColumn: "expires_at_ms"),
        ]
        let sweeper = Sweeper(store: store, name: "test", sweeps: sweeps, clock: ManualClock(now), logger: Logger(label: "test"))
        let running = Task { await sweeper.run() }
        try await eventually("the row is gone") { try await store.count() == 0 }
        running.cancel()
        await running.value
    }
}
