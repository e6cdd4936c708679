@testable import ClusterCommands
@testable import CommandKit
import Foundation
import Testing

/// A person with a bearer of the administration API.
struct Administrator: Sendable {
    let cluster: TestCluster
    let token: String

    /// The one of `cluster.json`.
    static func local() throws -> Administrator {
        let cluster = try TestCluster.running()
        return Administrator(cluster: cluster, token: try #require(try ClusterFile.read(cluster.home)).adminToken)
    }

    /// The one of a cluster's `cluster.json`.
    static func of(_ cluster: TestCluster) throws -> Administrator {
        Administrator(cluster: cluster, token: try #require(try ClusterFile.read(cluster.home)).adminToken)
    }

    /// One of `AdministrationTrait`.
    static func named(_ name: String) throws -> Administrator {
        let cluster = try TestCluster.running()
        let file = cluster.home.pki.appendingPathComponent("\(name).token")
        return Administrator(cluster: cluster, token: try String(contentsOf: file, encoding: .utf8))
    }

    /// One with an empty draft.
    static func fresh(_ name: String? = nil) async throws -> Administrator {
        let administrator = try name.map(named) ?? local()
        try #require(try await administrator.send("DELETE", "/draft").status == 204)
        return administrator
    }

    func send(_ method: String, _ path: String, text: String? = nil, ifMatch: String? = nil) async throws -> HTTPAnswer {
        var headers = [("Authorization", "Bearer \(token)")]
        if text != nil { headers.append(("Content-Type", "application/json")) }
        if let ifMatch { headers.append(("If-Match", ifMatch)) }
        return try await cluster.exchange.send(method, "\(cluster.administration)/admin/v1\(path)", headers: headers, body: text)
    }

    func send(_ method: String, _ path: String, _ object: [String: Any], ifMatch: String? = nil) async throws -> HTTPAnswer {
        let text = String(decoding: try JSONSerialization.data(withJSONObject: object), as: UTF8.self)
        return try await send(method, path, text: text, ifMatch: ifMatch)
    }

    /// Reads an entry, changes it, and sends it back to the draft.
    func change(_ path: String, _ edit: (inout [String: Any]) throws -> Void) async throws -> HTTPAnswer {
        let answer = try await send("GET", path)
        var entity = try #require(answer.object["entity"] as? [String: Any], "\(answer.text)")
        try edit(&entity)
        return try await send("PUT", path, entity, ifMatch: answer.header("etag"))
    }

    /// An application's entry under another id. Ids of installations belong to one application only (clients #102), and stay there.
    func copy(ofApplication id: String, _ members: [String: Any]) async throws -> [String: Any] {
        var entity = try #require(try await send("GET", "/applications/\(id)").object["entity"] as? [String: Any])
        for name in ["signingKeys", "clients", "legacyStatements"] { entity[name] = nil }
        return entity.merging(members) { $1 }
    }

    /// Has another entry published while `body` runs: all programs work with it, and with the old one afterwards.
    static func changing(_ path: String, _ edit: (inout [String: Any]) -> Void, while body: () async throws -> Void) async throws {
        let local = try await fresh()
        let before = try #require(try await local.send("GET", path).object["entity"] as? [String: Any])
        func publish(_ entity: [String: Any]) async throws {
            let answer = try await local.send("PUT", path, entity, ifMatch: "*")
            try #require(answer.status == 200, "\(answer.status) \(answer.text)")
            try await CatalogueEdit.wait(after: try await local.push("a test changes \(path)") - 1)
        }
        var entity = before
        edit(&entity)
        try await publish(entity)
        do {
            try await body()
        } catch {
            try await publish(before)
            throw error
        }
        try await publish(before)
    }

    /// The lines of the draft.
    func changes() async throws -> [[String: Any]] {
        try #require(try await send("GET", "/draft").object["changes"] as? [[String: Any]])
    }

    /// - Returns: The new version.
    @discardableResult
    func push(_ description: String) async throws -> Int {
        let answer = try await send("POST", "/draft/push", ["description": description])
        try #require(answer.status == 202, "\(answer.text)")
        return try #require(answer.object["version"] as? Int)
    }

    func currentVersion() async throws -> Int {
        let versions = try #require(try await send("GET", "/versions").object["versions"] as? [[String: Any]])
        return try #require(versions.first { $0["current"] as? Bool == true }?["version"] as? Int)
    }

    /// Each entry of the audit log, newest first.
    func audit() async throws -> [[String: Any]] {
        try #require(try await send("GET", "/audit?size=200").object["records"] as? [[String: Any]])
    }
}

extension HTTPAnswer {
    /// The object under `error` of the administration API.
    var failure: [String: Any] { object["error"] as? [String: Any] ?? [:] }

    var failureCode: String? { failure["code"] as? String }

    /// The fields of all problems.
    var problemFields: [String] { (failure["problems"] as? [[String: Any]] ?? []).compactMap { $0["field"] as? String } }

    var warnings: [String] { (object["warnings"] as? [[String: Any]] ?? []).compactMap { $0["message"] as? String } }
}
