@testable import ClusterCommands
@testable import CommandKit
import Foundation
import Synchronization
import Testing

/// One programmer's backend that runs away, and the calls of another programmer.
@Suite("Shares of programmers", .serialized)
struct FairnessTests {
    @Test(
        "a flood with valid credentials is 429, and the other programmer's p99 stays below one and a half of what it was", .tags(.timing),
        .onReleasePrograms,
        .timeLimit(.minutes(5)))
    func flood() async throws {
        try await withCluster { cluster in
            _ = try await cluster.starter.start()
            try await cluster.stop()
            let file = cluster.home.settings(of: .gateway)
            var settings = try #require(try JSONSerialization.jsonObject(with: Data(contentsOf: file)) as? [String: Any])
            var gateway = try #require(settings["gateway"] as? [String: Any])
            gateway["shares"] = ["perApplication": 20, "applicationBurst": 10, "perRequestor": 0]
            settings["gateway"] = gateway
            try JSONSerialization.data(withJSONObject: settings).write(to: file)
            _ = try await cluster.starter.start()
            try await TestCluster.$current.withValue(cluster) { try await Self.measure() }
        }
    }

    private static func measure() async throws {
        let (calm, runaway) = (try await Device.make("ACME1"), try await Device.make("BRAVO"))
        // A call of the calm one each fifty milliseconds, as a person's app may make them: below its share.
        @Sendable func p99() async throws -> Duration {
            var times: [Duration] = []
            for _ in 0..<100 {
                let start = ContinuousClock.now
                #expect(try await calm.checkAuthn() == 403)
                times.append(ContinuousClock.now - start)
                try await Task.sleep(for: .milliseconds(50))
            }
            return times.sorted()[98]
        }
        _ = try await p99()
        let refused = Refusals()
        var ratios: [Double] = []
        // Rounds in turn: the machine has other work too.
        for _ in 0..<3 {
            let alone = try await p99()
            let flooded = try await withThrowingTaskGroup(of: Duration?.self) { group in
                for _ in 0..<4 {
                    group.addTask {
                        while !Task.isCancelled {
                            let status = try? await runaway.checkAuthn()
                            if status == 429 { refused.count.add(1, ordering: .relaxed) }
                            try? await Task.sleep(for: .milliseconds(5))
                        }
                        return nil
                    }
                }
                group.addTask { try await p99() }
                var measured = Duration.zero
                for try await time in group {
                    guard let time else { continue }
                    measured = time
                    group.cancelAll()
                }
                return measured
            }
            // The delay of a timer on a busy machine says nothing of shares.
            ratios.append(max(flooded, .milliseconds(10)) / max(alone, .milliseconds(10)))
        }
        #expect(refused.count.load(ordering: .relaxed) > 300, "it was a flood")
        #expect(ratios.sorted()[1] < 1.5, "\(ratios)")
    }

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
