@testable import ClusterCommands
@testable import CommandKit
import Foundation
import Synchronization
import Testing

/// One programmer's backend that runs away, and the calls of another programmer.
@Suite("Shares of programmers", .serialized)
struct FairnessTests {
    /// Calls a second of an application, by the settings of this cluster.
    private static let share = 120

    @Test(
        "a flood with valid credentials is 429, and the other programmer's p99 stays below one and a half of what it is beside calls that cost nothing",
        .tags(.timing),
        .onReleasePrograms,
        .timeLimit(.minutes(5)))
    func flood() async throws {
        try await withCluster { cluster in
            _ = try await cluster.starter.start()
            try await cluster.restart(.gateway) { settings in
                var gateway = try #require(settings["gateway"] as? [String: Any])
                gateway["shares"] = ["perApplication": Self.share, "applicationBurst": Self.share / 2, "perRequestor": 0]
                settings["gateway"] = gateway
            }
            try await TestCluster.$current.withValue(cluster) { try await Self.measure() }
        }
    }

    private static func measure() async throws {
        let (calm, runaway) = (try await Device.make("ACME1"), try await Device.make("BRAVO"))
        // A call of the calm one each hundredth of a second: just below its share.
        @Sendable func times() async throws -> [Duration] {
            var times: [Duration] = []
            for _ in 0..<300 {
                let start = ContinuousClock.now
                #expect(try await calm.checkAuthn() == 403)
                times.append(ContinuousClock.now - start)
                try await Task.sleep(for: .milliseconds(10))
            }
            return times
        }
        // Those times while somebody makes as many calls as four tasks can.
        @Sendable func times(beside call: @escaping @Sendable () async throws -> Void) async throws -> [Duration] {
            try await withThrowingTaskGroup(of: [Duration].self) { group in
                for _ in 0..<4 {
                    group.addTask {
                        while !Task.isCancelled {
                            try? await call()
                            try? await Task.sleep(for: .milliseconds(5))
                        }
                        return []
                    }
                }
                group.addTask { try await times() }
                var measured: [Duration] = []
                for try await times in group where !times.isEmpty {
                    measured = times
                    group.cancelAll()
                }
                return measured
            }
        }
        _ = try await times()
        let refused = Refusals()
        var (usual, flooded): ([Duration], [Duration]) = ([], [])
        // Rounds in turn, and the calls of all of them together: the machine has other work too. This process makes the flood on the same processors, so the usual time
        // is that beside as many calls which are nobody's and cost a gateway the least.
        for _ in 0..<5 {
            usual += try await times { _ = try await calm.cluster.send(Call("GET", "/healthz")) }
            flooded += try await times { if try await runaway.checkAuthn() == 429 { refused.count.add(1, ordering: .relaxed) } }
        }
        let (before, during) = (p99(usual), p99(flooded))
        #expect(refused.count.load(ordering: .relaxed) > 5 * 3 * share, "it was a flood")
        #expect(during / before < 1.5, "p99 \(before) usually, \(during) beside the flood; \(refused.count.load(ordering: .relaxed)) refused")
    }

    private static func p99(_ times: [Duration]) -> Duration { times.sorted()[times.count * 99 / 100] }

    private func withCluster(_ body: (TestCluster) async throws -> Void) async throws {
        let client = HTTPExchange.makeClient()
        let cluster = try TestCluster(exchange: HTTPExchange(client: client))
        defer { cluster.removeState() }
        do {
            try await body(cluster)
        } catch {
            try? await cluster.stop()
            try await client.shutdown()
            throw error
        }
        try await cluster.stop()
        try await client.shutdown()
    }
}

private final class Refusals: Sendable {
    let count = Atomic(0)
}
