@testable import ClusterCommands
@testable import CommandKit
import Foundation
import Testing
import TextEncodings

/// The conformance cases of rest-v2 §8 and clients §6, over HTTP against the programs of one cluster, whose time of day is the
/// tests'.
@Suite("Conformance of REST v2", .serialized, .clusterWithMovableClock)
struct RestV2Tests {}

/// An app of REST v2 on a device.
struct V2Device: Sendable {
    let cluster: TestCluster
    let provider: String
    let id: String
    let accessToken: String
    var information = Device.information
    /// Headers beside the usual ones.
    var others: [String: String] = [:]

    /// An app of its own on a new device, unless they are given.
    static func make(_ provider: String = "ACME1", id: String = UUID().uuidString, accessToken: String? = nil) async throws -> V2Device {
        let cluster = try TestCluster.running()
        var token = accessToken ?? ""
        if token.isEmpty { token = try await Client.register(provider == "BRAVO" ? "bravo-tv" : "acme-tv").accessToken() }
        return V2Device(cluster: cluster, provider: provider, id: id, accessToken: token)
    }

    /// The same device in REST v1, by the same client.
    var former: Device { Device(cluster: cluster, requestor: provider, id: id, accessToken: accessToken) }

    /// Another device of the same client.
    func other(_ id: String = UUID().uuidString) -> V2Device { V2Device(cluster: cluster, provider: provider, id: id, accessToken: accessToken) }

    var headers: [String: String] {
        [
            "Authorization": "Bearer \(accessToken)", "AP-Device-Identifier": "fingerprint \(Data(id.utf8).base64EncodedString())",
            "X-Device-Info": information, "Accept": "application/json",
        ].merging(others) { $1 }
    }

    var end: String { "https://\(Device.domains[provider] ?? "")/signed-in" }

    var parameters: [String: String] { ["mvpd": "NorthCable", "domainName": Device.domains[provider] ?? "", "redirectUrl": end] }

    func path(_ rest: String) -> String { "/api/v2/\(provider)/\(rest)" }

    func get(_ rest: String, _ query: [String: String] = [:], _ changes: [String: String] = [:]) async throws -> HTTPAnswer {
        try await cluster.send(Call("GET", path(rest), query: query, headers: headers.merging(changes) { $1 }))
    }

    func post(_ rest: String, _ fields: [String: String], _ changes: [String: String] = [:]) async throws -> HTTPAnswer {
        try await cluster.send(.form(path(rest), fields.map { ($0.key, $0.value) }, headers: headers.merging(changes) { $1 }))
    }

    func decide(
        _ kind: String, _ resources: [String], at mvpd: String = "NorthCable", _ changes: [String: String] = [:]
    ) async throws -> HTTPAnswer {
        let body = String(decoding: try JSONSerialization.data(withJSONObject: ["resources": resources]), as: UTF8.self)
        let headers = self.headers.merging(["Content-Type": "application/json;charset=utf-8"]) { $1 }.merging(changes) { $1 }
        return try await cluster.send(Call("POST", path("decisions/\(kind)/\(mvpd)"), headers: headers, body: body))
    }

    /// The decisions of an answer.
    func decisions(
        _ kind: String, _ resources: [String], at mvpd: String = "NorthCable", _ changes: [String: String] = [:]
    ) async throws -> [[String: Any]] {
        let answer = try await decide(kind, resources, at: mvpd, changes)
        try #require(answer.status == 200, "\(answer.text)")
        return try #require(answer.object["decisions"] as? [[String: Any]])
    }

    /// The only decision about one resource.
    func decision(_ resource: String, at mvpd: String = "NorthCable", _ changes: [String: String] = [:]) async throws -> [String: Any] {
        let decisions = try await decisions("authorize", [resource], at: mvpd, changes)
        try #require(decisions.count == 1)
        return decisions[0]
    }

    func profiles(_ rest: String = "profiles", _ changes: [String: String] = [:]) async throws -> [String: [String: Any]] {
        let answer = try await get(rest, [:], changes)
        try #require(answer.status == 200, "\(answer.text)")
        return try #require(answer.object["profiles"] as? [String: [String: Any]])
    }

    /// A session that waits for a person.
    func session(_ changes: [String: String] = [:]) async throws -> HTTPAnswer {
        let answer = try await post("sessions", parameters.merging(changes) { $1 })
        try #require(answer.status == 200, "\(answer.text)")
        return answer
    }

    func code(_ changes: [String: String] = [:]) async throws -> String {
        let answer = try await session(changes)
        return try #require(answer.object["code"] as? String, "\(answer.text)")
    }

    /// A person signs in by a session's address, in a browser of their own.
    /// - Returns: The answer of the assertion consumer.
    func login(_ code: String, as name: String = "ada") async throws -> HTTPAnswer {
        let url = cluster.gateway + "/api/v2/authenticate/\(provider)/\(code)"
        var browser = Browser(exchange: cluster.exchange)
        return try await browser.complete(try await browser.visit(url), at: url, name: name)
    }

    /// - Returns: The code that was used.
    @discardableResult
    func signIn(as name: String = "ada", at mvpd: String = "NorthCable") async throws -> String {
        let code = try await code(["mvpd": mvpd])
        let answer = try await login(code, as: name)
        try #require(answer.status == 302 && answer.header("location") == end, "\(answer.status) \(answer.text)")
        return code
    }
}

extension HTTPAnswer {
    /// Code of an enhanced error that is complete (rest-v2 §3); the error's status is that of the answer.
    var v2Error: String? {
        guard object["status"] as? Int == status, object["action"] is String, object["message"] is String,
            (object["helpUrl"] as? String)?.hasPrefix("http") == true, UUID(uuidString: object["trace"] as? String ?? "") != nil
        else { return nil }
        return object["code"] as? String
    }

    /// Action, type and reason of a session.
    var step: [String] { ["actionName", "actionType", "reasonType"].map { object[$0] as? String ?? "" } }
}

extension [String: Any] {
    /// Code of a decision's error, or of an attribute's.
    var errorCode: String? { (self["error"] as? [String: Any])?["code"] as? String }
    var errorAction: String? { (self["error"] as? [String: Any])?["action"] as? String }
    var errorStatus: Int? { (self["error"] as? [String: Any])?["status"] as? Int }
    var isAuthorized: Bool { self["authorized"] as? Bool == true }
    var mediaToken: String? { (self["token"] as? [String: Any])?["serializedToken"] as? String }
}
