import Faults
import Foundation
import PostgresServer
import Storage
import StoragePostgres
import Synchronization
import Testing

extension InTimeTests {
    /// A standby is promoted, while copies write and read.
    @Suite("Failover", .enabled(if: PostgresServer.isHere, PostgresServer.absence))
    struct FailoverTests {
        @Test(
            "nothing acknowledged is lost, and what others have acknowledged shows within three seconds, whether the former primary is dead or only cut off",
            .timeLimit(.minutes(2)), arguments: [true, false])
        func promotion(isKilled: Bool) async throws {
            let servers = try await offThread { try ReplicatedServer() }
            defer { servers.end() }
            let options = servers.options()
            var there = options
            there.hosts = [options.hosts[1]]
            let store = try await offThread { [options] in try Store.notes(options) }
            let acknowledged = Acknowledged()
            let writers = (0..<4).map { writer in
                Task {
                    var number = 0
                    while !Task.isCancelled {
                        let text = "\(writer) \(number)"
                        number += 1
                        do {
                            try await store.add(text, inClosure: writer % 2 == 1)
                            acknowledged.add(text)
                        } catch {
                            try? await Task.sleep(for: .milliseconds(20))
                        }
                    }
                }
            }
            let reader = Task { () -> [String] in
                var late: [String] = []
                while !Task.isCancelled {
                    // The answers from before the question began, with some time for a machine that is busy.
                    let old = acknowledged.olderThan(.seconds(4))
                    if let texts = try? await store.all("SELECT text FROM note WHERE text LIKE 'there%'", [], { $0.next() as String }) {
                        late += old.filter { $0.hasPrefix("there") && !texts.contains($0) }
                    }
                    try? await Task.sleep(for: .milliseconds(5))
                }
                return late
            }
            try await eventually("they write") { acknowledged.count > 50 }

            if isKilled { try await offThread { try servers.primary.server.stop(isKilled: true) } }
            try await offThread { _ = try servers.standby.run(sql: "SELECT pg_promote()") }
            // A copy that knows the new primary alone.
            let other = try await offThread { [there] in try Store.notes(there) }
            for number in 0..<10 {
                try await other.add("there \(number)")
                acknowledged.add("there \(number)")
            }
            try await eventually("the copy is there") { (try? await store.texts())?.contains("there 9") == true }
            let before = acknowledged.count
            try await eventually("it writes there") { acknowledged.count > before + 20 }
            for writer in writers { writer.cancel() }
            for writer in writers { await writer.value }
            reader.cancel()
            #expect(await reader.value == [])
            let found = Set(try await other.texts())
            #expect(acknowledged.all.subtracting(found).sorted() == [], "acknowledged writes are lost")
            await store.close()
            await other.close()
        }
    }
}

/// The answers to callers, and their times.
private final class Acknowledged: Sendable {
    private let texts = Mutex<[(text: String, at: ContinuousClock.Instant)]>([])

    var count: Int { texts.withLock { $0.count } }
    var all: Set<String> { texts.withLock { Set($0.map { $0.text }) } }

    func add(_ text: String) { texts.withLock { $0.append((text, .now)) } }

    func olderThan(_ time: Duration) -> [String] { texts.withLock { texts in texts.filter { $0.at.duration(to: .now) > time }.map { $0.text } } }
}
