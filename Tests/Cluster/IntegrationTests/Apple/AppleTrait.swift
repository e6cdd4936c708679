@testable import ClusterCommands
@testable import CommandKit
import Foundation
import Synchronization
import Testing

/// Gives a suite a cluster with many people, so that each case has a person, and an account, of its own.
struct AppleTrait: SuiteTrait, TestScoping {
    private static let people = 400
    private static let taken = Mutex(0)

    /// A person at NorthCable that no other case uses.
    static func person() -> String {
        let number = taken.withLock { taken in
            defer { taken += 1 }
            return taken
        }
        precondition(number < people, "the suite needs more people")
        return "person-\(number)"
    }

    func provideScope(for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void) async throws {
        try await ClusterTrait().provideScope(for: test, testCase: testCase) {
            try await Self.populate(try TestCluster.running())
            try await function()
        }
    }

    /// Enters the people in the sandbox's settings and starts it anew.
    static func populate(_ cluster: TestCluster) async throws {
        let file = cluster.home.settings(of: .sandbox)
        var settings = try #require(try JSONSerialization.jsonObject(with: Data(contentsOf: file)) as? [String: Any])
        settings["people"] = [["name": "ada"]] + (0..<people).map { ["name": "person-\($0)"] }
        try JSONSerialization.data(withJSONObject: settings).write(to: file, options: .atomic)
        try await cluster.restart(.sandbox, signal: SIGTERM)
        let apple = ClusterAddresses(ports: cluster.ports).apple
        try await Condition.wait("the stand-in Apple is ready") {
            (try? await cluster.exchange.send("GET", apple + "/_health"))?.status == 200
        }
    }
}

extension Trait where Self == AppleTrait {
    static var apple: Self { Self() }
}

extension TestCluster {
    /// Ends a service and starts it again.
    func restart(_ service: ClusterService, signal: Int32) async throws {
        let running = try process(service)
        running.signal(signal)
        try await Condition.wait("\(service) has stopped") { !running.isRunning }
        _ = try await starter.restart(service)
        let address = ClusterAddresses(ports: ports).readiness(of: service)
        try await Condition.wait("\(service) is ready", within: .seconds(20)) { (try? await exchange.send("GET", address))?.status == 200 }
    }
}
