@testable import ClusterCommands
@testable import CommandKit
import Foundation
import Testing

/// Gives a suite a cluster of its own, with a catalogue that the suite may change and more administrators than the local one.
struct AdministrationTrait: SuiteTrait, TestScoping {
    /// Name, role, programmers.
    private static let administrators = [
        ("edith", "editor", ["acme"]), ("emil", "editor", ["acme"]), ("boris", "editor", ["bravo"]), ("vera", "viewer", ["acme"]),
    ]

    func provideScope(for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void) async throws {
        try await ClusterTrait().provideScope(for: test, testCase: testCase) {
            try await Self.appoint(try TestCluster.running())
            try await function()
        }
    }

    /// Enters the administrators in config's settings and starts it anew.
    private static func appoint(_ cluster: TestCluster) async throws {
        let file = cluster.home.settings(of: .config)
        var settings = try #require(try JSONSerialization.jsonObject(with: Data(contentsOf: file)) as? [String: Any])
        var config = try #require(settings["config"] as? [String: Any])
        var list = try #require(config["administrators"] as? [[String: Any]])
        for (name, role, programmers) in administrators {
            let token = cluster.home.pki.appendingPathComponent("\(name).token")
            try Data("\(name)-\(UUID().uuidString)-\(UUID().uuidString)".utf8).write(to: token)
            list.append(["name": name, "role": role, "programmers": programmers, "tokenFile": token.path])
        }
        let proxy = cluster.home.pki.appendingPathComponent("petra.token")
        try Data("petra-\(UUID().uuidString)-\(UUID().uuidString)".utf8).write(to: proxy)
        list.append(["name": "petra", "role": "proxy", "mvpd": "NorthCable", "tokenFile": proxy.path])
        config["administrators"] = list
        settings["config"] = config
        try JSONSerialization.data(withJSONObject: settings).write(to: file, options: .atomic)
        let running = try cluster.process(.config)
        running.signal(SIGTERM)
        try await Condition.wait("config has stopped") { !running.isRunning }
        _ = try await cluster.starter.restart(.config)
        try await Condition.wait("config answers administrators") {
            try await Administrator.named("edith").send("GET", "/administrator").status == 200
        }
    }
}

extension Trait where Self == AdministrationTrait {
    static var administration: Self { Self() }
}
