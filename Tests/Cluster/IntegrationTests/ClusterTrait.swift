@testable import BoxofficeCommand
import Testing

/// Gives a suite a running cluster, one for all its tests.
struct ClusterTrait: SuiteTrait, TestScoping {
    func provideScope(for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void) async throws {
        let client = HTTPExchange.makeClient()
        let cluster = try TestCluster(exchange: HTTPExchange(client: client))
        do {
            _ = try await cluster.starter.start()
            try await TestCluster.$current.withValue(cluster) { try await function() }
        } catch {
            try? await cluster.stop()
            try await client.shutdown()
            throw error
        }
        try await cluster.stop()
        try await client.shutdown()
        cluster.removeState()
    }
}

extension Trait where Self == ClusterTrait {
    static var cluster: Self { Self() }
}
