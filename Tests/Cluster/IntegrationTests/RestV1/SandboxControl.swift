@testable import ClusterCommands
@testable import CommandKit
import Foundation
import Testing

/// The controls of the stand-in MVPD.
struct SandboxControl: Sendable {
    let cluster: TestCluster

    static func running() throws -> SandboxControl { SandboxControl(cluster: try TestCluster.running()) }

    private var base: String { cluster.standIns.sandbox }

    /// The number of requests that a decision point has received.
    func decisions(_ mvpd: String = "NorthCable") async throws -> Int {
        let answer = try await cluster.exchange.send("GET", base + "/control/log")
        try #require(answer.status == 200)
        return (answer.object["counters"] as? [String: Int])?["pdp/\(mvpd)"] ?? 0
    }

    /// Sets the lifetime of the decision point's next permit.
    func shortenNextPermit(to seconds: Int, _ mvpd: String = "NorthCable") async throws {
        try await shapeNextAnswer(#""reauthorizeSeconds": \#(seconds)"#, mvpd)
    }

    /// Shapes the next answer of the decision point.
    /// - Parameter members: The members of the control's JSON object.
    func shapeNextAnswer(_ members: String, _ mvpd: String = "NorthCable") async throws {
        try await shape(#""times": 1, \#(members)"#, mvpd)
    }

    /// Shapes further answers of the decision point.
    /// - Parameter members: The members of the control's JSON object, `times` included.
    func shape(_ members: String, _ mvpd: String) async throws {
        let answer = try await cluster.exchange.send(
            "POST", base + "/control/pdp/\(mvpd)", headers: [("Content-Type", "application/json")], body: "{\(members)}")
        try #require(answer.status == 204, "\(answer.text)")
    }

    /// The sandbox's notes at an endpoint, newest last.
    func entries(_ endpoint: String) async throws -> [[String: String]] {
        let answer = try await cluster.exchange.send("GET", base + "/control/log")
        try #require(answer.status == 200)
        let entries = answer.object["entries"] as? [[String: Any]] ?? []
        return entries.filter { $0["endpoint"] as? String == endpoint }.map { $0["fields"] as? [String: String] ?? [:] }
    }
}
