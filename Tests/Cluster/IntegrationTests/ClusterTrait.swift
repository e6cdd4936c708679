@testable import ClusterCommands
@testable import CommandKit
import Foundation
import Testing

/// Gives a suite a running cluster, one for all its tests. `BOXOFFICE_TEST_UPSTREAM=boxoffice`: it is a bridge, whose MVPDs are all those of a second
/// cluster (bridge §18).
struct ClusterTrait: SuiteTrait, TestScoping {
    /// True when the MVPDs are tried on a schedule.
    var hasTestUsers = false
    /// True when tests move the time of day of its programs.
    var hasMovableClock = false

    func provideScope(for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void) async throws {
        let client = HTTPExchange.makeClient()
        let exchange = HTTPExchange(client: client)
        let isBridge = ProcessInfo.processInfo.environment["BOXOFFICE_TEST_UPSTREAM"] == "boxoffice"
        let other = isBridge ? try TestCluster(exchange: exchange, takesKeys: false) : nil
        let clock = hasMovableClock ? try await MovableClock() : nil
        defer { clock?.end() }
        if let other { _ = try await other.starter.start() }
        let cluster =
            try other.map { try TestCluster(exchange: exchange, bridgedTo: $0) }
            ?? TestCluster(exchange: exchange, hasTestUsers: hasTestUsers, clock: clock)
        do {
            if let other { try Self.shareProgrammers(of: other, with: cluster) }
            _ = try await cluster.starter.start()
            if let other {
                let upstream = try UpstreamCluster(at: other.home.root.path, besides: cluster.home)
                _ = try await upstream.serve(cluster.home, pki: cluster.starter.pki, exchange: exchange)
            }
            try await TestCluster.$current.withValue(cluster) { try await function() }
        } catch {
            try? await cluster.stop()
            try? await other?.stop()
            try await client.shutdown()
            throw error
        }
        try await cluster.stop()
        try await other?.stop()
        try await client.shutdown()
        cluster.removeState()
        other?.removeState()
    }

    /// A programmer has one key pair for user metadata, wherever it is a customer.
    private static func shareProgrammers(of other: TestCluster, with cluster: TestCluster) throws {
        try cluster.home.prepare()
        for name in try FileManager.default.contentsOfDirectory(atPath: other.home.pki.path) where name.hasPrefix("programmer-") {
            let own = cluster.home.pki.appendingPathComponent(name)
            try? FileManager.default.removeItem(at: own)
            try FileManager.default.copyItem(at: other.home.pki.appendingPathComponent(name), to: own)
        }
    }
}

extension Trait where Self == ClusterTrait {
    static var cluster: Self { Self() }
    /// The same with test users, who sign in at each MVPD once a minute.
    static var clusterWithTestUsers: Self { Self(hasTestUsers: true) }
    /// The same with a time of day that tests move.
    static var clusterWithMovableClock: Self { Self(hasMovableClock: true) }
}
