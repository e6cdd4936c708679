@testable import ClusterCommands
import Foundation
import Testing

/// The controls of the stand-in Apple.
struct AppleControl: Sendable {
    let cluster: TestCluster

    static func running() throws -> AppleControl { AppleControl(cluster: try TestCluster.running()) }

    private var base: String { ClusterAddresses(ports: cluster.ports).apple }

    /// The calls to an endpoint so far: when, in milliseconds, and the status; oldest first.
    func calls(_ endpoint: String) async throws -> [(at: Int64, status: Int)] {
        let answer = try await cluster.exchange.send("GET", base + "/_control/log")
        try #require(answer.status == 200)
        let entries = answer.object["entries"] as? [[String: Any]] ?? []
        return entries.filter { $0["endpoint"] as? String == endpoint }.map { entry in
            ((entry["at"] as? NSNumber)?.int64Value ?? 0, (entry["status"] as? NSNumber)?.intValue ?? 0)
        }
    }

    /// Waits for calls beyond a number.
    func wait(for endpoint: String, beyond count: Int, within limit: Duration = .seconds(30)) async throws {
        try await Condition.wait("\(endpoint) is called at Apple", within: limit) { try await calls(endpoint).count > count }
    }

    /// Sets faults for the next calls to an endpoint, one for each.
    func fault(_ endpoint: String, _ faults: [[String: Any]]) async throws { try await post("/faults", ["endpoint": endpoint, "faults": faults]) }

    /// The number of faults that wait for calls to an endpoint.
    func waiting(_ endpoint: String) async throws -> Int {
        let answer = try await cluster.exchange.send("GET", base + "/_control/faults")
        return (answer.object[endpoint] as? [Any])?.count ?? 0
    }

    /// Removes all faults.
    func heal(_ endpoint: String) async throws {
        let answer = try await cluster.exchange.send("DELETE", base + "/_control/faults?endpoint=\(endpoint)")
        try #require(answer.status == 204, "\(answer.text)")
    }

    /// Puts any state on an account.
    func setToken(_ app: AppleApp, value: String?, authorization: String) async throws {
        var token: [String: Any] = [
            "account": app.apple.account, "bundleId": app.apple.bundleID, "environment": app.apple.environment, "authorization": authorization,
        ]
        token["value"] = value
        try await send("PUT", "/tokens", token)
    }

    private func post(_ path: String, _ object: [String: Any]) async throws { try await send("POST", path, object) }

    private func send(_ method: String, _ path: String, _ object: [String: Any]) async throws {
        let body = String(decoding: try JSONSerialization.data(withJSONObject: object), as: UTF8.self)
        let answer = try await cluster.exchange.send(
            method, "\(base)/_control\(path)", headers: [("Content-Type", "application/json")], body: body)
        try #require(answer.status == 204, "\(answer.text)")
    }
}
