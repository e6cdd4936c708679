@testable import ClusterCommands
@testable import CommandKit
import Foundation
import Testing

/// The stand-in Apple, as the cases of Sign in with Apple need it.
struct StandInApple: Sendable {
    /// One call that it noted; secrets are there as their digests.
    struct Entry: Sendable {
        let status: Int
        let fields: [String: String]
    }

    let cluster: TestCluster

    static func running() throws -> StandInApple { StandInApple(cluster: try TestCluster.running()) }

    var base: String { ClusterAddresses(ports: cluster.ports).apple }

    func send(_ method: String, _ path: String, _ object: [String: any Sendable] = [:]) async throws -> HTTPAnswer {
        let body = String(decoding: try JSONSerialization.data(withJSONObject: object), as: UTF8.self)
        return try await cluster.exchange.send(
            method, base + path, headers: [("Content-Type", "application/json")], body: method == "GET" ? nil : body)
    }

    /// Sets its behaviour.
    @discardableResult
    func control(_ path: String, _ object: [String: any Sendable], method: String = "POST") async throws -> HTTPAnswer {
        let answer = try await send(method, "/_control/\(path)", object)
        try #require((200...204).contains(answer.status), "\(answer.text)")
        return answer
    }

    func setUser(_ account: String, _ object: [String: any Sendable]) async throws { try await control("users/\(account)", object, method: "PUT") }

    /// The calls to an endpoint, oldest first.
    func entries(_ endpoint: String) async throws -> [Entry] {
        let answer = try await send("GET", "/_control/log")
        let entries = try #require(answer.object["entries"] as? [[String: Any]])
        return entries.filter { $0["endpoint"] as? String == endpoint }.map {
            Entry(status: $0["status"] as? Int ?? -1, fields: $0["fields"] as? [String: String] ?? [:])
        }
    }

    func count(_ endpoint: String) async throws -> Int { try await entries(endpoint).count }

    /// The refresh tokens of an Apple Account.
    func refreshTokens(_ account: String) async throws -> [(client: String, isRevoked: Bool, validations: Int)] {
        let answer = try await send("GET", "/_control/refresh-tokens")
        let all = try #require(try JSONSerialization.jsonObject(with: Data(answer.text.utf8)) as? [[String: Any]])
        return all.filter { $0["account"] as? String == account }.map {
            ($0["clientId"] as? String ?? "", $0["revoked"] as? Bool ?? false, $0["validations"] as? Int ?? -1)
        }
    }

    /// Every secret that it has seen or given out.
    func secrets() async throws -> [String] {
        let answer = try await send("GET", "/_control/secrets")
        return answer.object.values.flatMap { $0 as? [String] ?? [] }
    }

    /// The keys: name, whether it is published, whether it signs.
    func keys(_ action: [String: any Sendable]? = nil) async throws -> [(id: String, isPublished: Bool, signs: Bool)] {
        let answer = try await action == nil ? send("GET", "/_control/keys") : control("keys", action ?? [:])
        let all = try #require(try JSONSerialization.jsonObject(with: Data(answer.text.utf8)) as? [[String: Any]])
        return all.map { ($0["kid"] as? String ?? "", $0["published"] as? Bool ?? false, $0["signing"] as? Bool ?? false) }
    }

    /// Sends a notification of an account to the gateway.
    /// - Returns: The statuses of the gateway's answers.
    @discardableResult
    func notify(_ type: String, _ account: String, client: String = "example.acme.tv", _ more: [String: any Sendable] = [:]) async throws -> [Int] {
        let order: [String: any Sendable] = ["type": type, "account": account, "clientId": client]
        return try await control("notifications", order.merging(more) { $1 }).object["statuses"] as? [Int] ?? []
    }

    /// `sub` of an account in the team of `acme`.
    func subject(_ account: String) async throws -> String {
        let subjects = try await send("GET", "/_control/users/\(account)").object["subjects"] as? [String: String]
        return try #require(subjects?["ACMETEAM01"])
    }
}
