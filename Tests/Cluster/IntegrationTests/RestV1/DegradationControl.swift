@testable import ClusterCommands
@testable import CommandKit
import Clocks
import Foundation
import Testing

/// Degradation rules as an administrator starts and ends them.
struct DegradationControl: Sendable {
    private static let path = "/admin/v1/degradation"
    private let cluster: TestCluster
    private let token: String

    static func running() throws -> DegradationControl {
        let cluster = try TestCluster.running()
        return DegradationControl(cluster: cluster, token: try #require(try ClusterFile.read(cluster.home)).adminToken)
    }

    private init(cluster: TestCluster, token: String) {
        self.cluster = cluster
        self.token = token
    }

    /// Runs `body` while the rule is in force; the rule ends afterwards, at the latest after ten minutes.
    func during(
        _ kind: String, at requestor: String, mvpd: String = "NorthCable", resources: [String] = [], message: String? = nil,
        _ body: () async throws -> Void
    ) async throws {
        var rule: [String: Any] = [
            "kind": kind, "requestor": requestor, "mvpds": [mvpd], "resources": resources, "reason": "a test",
            "endsAt": (cluster.now + .seconds(600)).milliseconds,
        ]
        rule["message"] = message
        let text = String(decoding: try JSONSerialization.data(withJSONObject: rule), as: UTF8.self)
        let answer = try await cluster.send(Call("POST", Self.path, headers: headers, body: text))
        try #require(answer.status == 201, "\(answer.text)")
        let id = try #require((answer.object["rules"] as? [[String: Any]])?.first?["id"] as? String)
        do {
            try await body()
        } catch {
            try await end(id)
            throw error
        }
        try await end(id)
    }

    private func end(_ id: String) async throws {
        let answer = try await cluster.send(Call("DELETE", "\(Self.path)/\(id)", headers: headers))
        try #require(answer.status == 204, "\(answer.text)")
    }

    private var headers: [String: String] { ["Authorization": "Bearer \(token)", "Content-Type": "application/json"] }
}
