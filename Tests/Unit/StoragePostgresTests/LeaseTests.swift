import Clocks
import Logging
import PostgresServer
import Storage
import StoragePostgres
import Testing

@Suite("Duties", .enabled(if: PostgresServer.isHere, PostgresServer.absence))
struct LeaseTests {
    @Test("one copy at a time has a duty, which goes to another one when it ends, or is silent for too long")
    func handOver() async throws {
        let options = try PostgresServer.shared.options()
        let (one, other) = (try Store.notes(options), try Store.notes(options))
        let first = try #require(await one.lease("sweep note"))
        #expect(await one.lease("sweep note") == first)
        #expect(await other.lease("sweep note") == nil)
        #expect(await other.lease("another")?.fence == 1)
        await one.close()
        let second = try #require(await other.lease("sweep note"))
        #expect(second.fence > first.fence)
        await other.close()
        #expect(await other.lease("sweep note") == nil)
        // A copy that was killed gives nothing back, and is heard no more.
        let third = try Store.notes(options)
        let silence = "UPDATE duty SET holder = 'dead', until_ms = ? WHERE name = 'sweep note'"
        try await third.write { try $0.run(Statement(silence), [Int64.max / 2]) }
        #expect(await third.lease("sweep note") == nil)
        try await third.write { try $0.run(Statement(silence), [Int64(1)]) }
        #expect(try #require(await third.lease("sweep note")).fence > second.fence)
        await third.close()
    }

    @Test("of copies that ask at once one gets it")
    func race() async throws {
        let options = try PostgresServer.shared.options()
        let stores = try (0..<4).map { _ in try Store.notes(options) }
        for round in 0..<5 {
            let got = await withTaskGroup { group in
                for store in stores { group.addTask { await store.lease("round \(round)") != nil } }
                return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
            }
            #expect(got == 1)
        }
        for store in stores { await store.close() }
    }

    @Test("of several copies one sweeps, and another one when that one is gone")
    func sweeps() async throws {
        let options = try PostgresServer.shared.options()
        var stores = try (0..<3).map { _ in try Store.notes(options) }
        let sweep = Sweep(table: "note", key: ["id"], expiryColumn: "expires_at_ms", interval: .milliseconds(20))
        var running: [Task<Void, Never>] = []
        for store in stores {
            let sweeper = Sweeper(store: store, name: "test", sweeps: [sweep], clock: SystemClock(), logger: Logger(label: "test"))
            running.append(Task { await sweeper.run() })
        }
        var holders: Set<String> = []
        while !stores.isEmpty {
            try await stores[0].add("old \(stores.count)")
            try await eventually("it is swept") { try await stores[0].texts().isEmpty }
            let holder: String = try #require(try await stores[0].value("SELECT holder FROM duty WHERE name = 'sweep note'"))
            #expect(holders.insert(holder).inserted)
            // The copy that has it ends.
            var index = 0
            while await stores[index].lease("sweep note") == nil { index += 1 }
            running.remove(at: index).cancel()
            await stores.remove(at: index).close()
        }
    }
}
