import Clocks
import Doubles
import Identifiers
import Logging
import ManualClocks
import PostgresServer
import Storage
import Synchronization
import Testing

@testable import AutoSignInService

/// Copies leave letters in the same partitions and take them out, all at once.
@Suite("Letters of several copies", .everyEngine)
struct OutboxRaceTests {
    /// Says what arrived, and whether two letters of a partition were ever under way at once.
    private final class Recorder: OutboxCourier {
        private struct State {
            var arrived: [String: [String]] = [:]
            var underWay: Set<String> = []
            var overtaken: [String] = []
        }
        private let state = Mutex(State())

        var arrived: [String: [String]] { state.withLock { $0.arrived } }
        var overtaken: [String] { state.withLock { $0.overtaken } }

        func deliver(_ item: OutboxItem) async -> DeliveryOutcome {
            let partition = item.letter.partition
            state.withLock { state in
                if !state.underWay.insert(partition).inserted { state.overtaken.append(partition) }
                state.arrived[partition, default: []].append(String(decoding: item.letter.payload, as: UTF8.self))
            }
            try? await Task.sleep(for: .milliseconds(Int.random(in: 0...3)))
            state.withLock { _ = $0.underWay.remove(partition) }
            return .accepted
        }
    }

    private final class End: Sendable {
        let isWritten = Atomic(false)
    }

    private static let partitions = 12
    private static let writers = 6
    private static let letters = 20

    @Test("each letter goes out once, and those of a lane in the order of their commits")
    func lanesInOrder() async throws {
        let folder = try TestFolder()
        let place = try StorePlace(in: folder)
        let stores = [try place.open(), try place.open()]
        let clock = ManualClock()
        let recorder = Recorder()
        let outboxes = stores.map { store in
            Outbox(
                store: AutoSignInStore(store), couriers: [.delete: recorder], clock: clock, random: SystemRandom(), metrics: AutoSignInMetrics(),
                logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        }
        let now = clock.now()
        try await stores[0].write { database in
            for partition in 0..<Self.partitions {
                try database.insert(
                    FamilyRecord(
                        id: FamilyID("family-\(partition)"), account: AccountID("a"), programmer: ProgrammerID("acme"),
                        bundleID: AppleClientID("tv.acme"),
                        environment: .production, state: .active, device: DeviceID("tv"), deviceLabel: "TV", createdAt: now))
            }
        }
        let end = End()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for outbox in outboxes {
                group.addTask {
                    repeat {
                        let isLast = end.isWritten.load(ordering: .acquiring)
                        try await outbox.deliverDue()
                        if isLast { return }
                    } while true
                }
            }
            group.addTask {
                try await withThrowingTaskGroup(of: Void.self) { writers in
                    for writer in 0..<Self.writers {
                        writers.addTask {
                            for number in 0..<Self.letters {
                                let family = FamilyID("family-\(Int.random(in: 0..<Self.partitions))")
                                let letter = OutboxLetter.delete(family, TokenID("\(writer):\(number)"))
                                try await stores[writer % 2].write { try $0.enqueue(letter, programmer: ProgrammerID("acme"), now: now) }
                            }
                        }
                    }
                    try await writers.waitForAll()
                }
                end.isWritten.store(true, ordering: .releasing)
            }
            try await group.waitForAll()
        }
        #expect(recorder.overtaken == [])
        #expect(recorder.arrived.values.joined().count == Self.writers * Self.letters)
        for (partition, arrived) in recorder.arrived {
            for writer in 0..<Self.writers {
                let own = arrived.compactMap { $0.hasPrefix("\(writer):") ? Int($0.dropFirst(2)) : nil }
                #expect(own == own.sorted() && Set(own).count == own.count, "\(partition): \(own)")
            }
        }
        #expect(try await stores[1].read { try $0.value("SELECT count(*) FROM outbox") as Int? } == 0)
        for store in stores { await store.close() }
    }
}
