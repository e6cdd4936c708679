@testable import ClusterCommands
@testable import CommandKit
import Foundation
import Testing
import TextEncodings

/// The stand-in REST v2 server under control, as the cases of the bridge need it (bridge §15.4); the sandbox's README describes its routes.
struct StandInUpstream: Sendable {
    /// One call that it noted.
    struct Entry: Sendable {
        let number: Int
        let operation: String
        let path: String
        /// As it came.
        let query: String
        /// By names in small letters.
        let headers: [String: String]
        let body: String
        /// 0: no answer.
        let status: Int
        let outcome: String
        /// `1.1` or `2`, and the source port of the connection.
        let httpVersion: String
        let port: Int

        /// True when a person's browser made it.
        var isOfBrowser: Bool { ["authenticate", "signIn", "mvpdLogout"].contains(operation) }
    }

    let exchange: HTTPExchange
    /// Base URL.
    let address: String

    /// The one of the suite's cluster.
    static func running() throws -> StandInUpstream {
        let cluster = try TestCluster.running()
        return StandInUpstream(exchange: cluster.exchange, address: ClusterAddresses(ports: cluster.ports).upstream)
    }

    func send(_ method: String, _ path: String, _ headers: [(String, String)] = [], body: String? = nil) async throws -> HTTPAnswer {
        try await exchange.send(method, address + path, headers: headers, body: body)
    }

    /// Calls a control route.
    /// - Parameter value: A JSON object or list; `nil`: no body.
    @discardableResult
    func control(_ method: String, _ path: String, _ value: Any? = nil) async throws -> HTTPAnswer {
        let body = try value.map { String(decoding: try JSONSerialization.data(withJSONObject: $0), as: UTF8.self) }
        let answer = try await send(method, "/control/\(path)", [("Content-Type", "application/json")], body: body)
        try #require((200...204).contains(answer.status), "\(method) \(path): \(answer.status) \(answer.text)")
        return answer
    }

    // MARK: What came

    /// Calls by operation; those that were never called are left out.
    func counts() async throws -> [String: Int] {
        let counters = try await control("GET", "log").object["counters"] as? [String: [String: Int]] ?? [:]
        return counters.compactMapValues { $0["calls"] }.filter { $0.value > 0 }
    }

    func count(_ operation: String) async throws -> Int { try await counts()[operation] ?? 0 }

    /// Most calls of an operation at one time.
    func mostInFlight(_ operation: String) async throws -> Int {
        let counters = try await control("GET", "log").object["counters"] as? [String: [String: Int]]
        return counters?[operation]?["mostInFlight"] ?? 0
    }

    /// The calls of an operation, or all, oldest first.
    func entries(_ operation: String? = nil, after number: Int = 0) async throws -> [Entry] {
        let filter = operation.map { "&operation=\($0)" } ?? ""
        let list = try await control("GET", "log?after=\(number)\(filter)").object["entries"] as? [[String: Any]] ?? []
        return list.map {
            Entry(
                number: $0["number"] as? Int ?? 0, operation: $0["operation"] as? String ?? "", path: $0["path"] as? String ?? "",
                query: $0["query"] as? String ?? "", headers: $0["headers"] as? [String: String] ?? [:], body: $0["body"] as? String ?? "",
                status: $0["status"] as? Int ?? -1, outcome: $0["outcome"] as? String ?? "", httpVersion: $0["httpVersion"] as? String ?? "",
                port: $0["port"] as? Int ?? 0)
        }
    }

    func forgetCalls() async throws { try await control("DELETE", "log") }

    /// Everything as at the start: no client and no profile is left.
    func reset() async throws { try await control("POST", "reset") }

    // MARK: What goes wrong

    /// Lets the next calls of an operation, or of all, go wrong.
    /// - Parameter fault: `kind`, `times` and what belongs to the kind.
    func fail(_ operation: String? = nil, _ fault: [String: Any]) async throws {
        var message: [String: Any] = ["faults": [fault]]
        if let operation { message["operations"] = [operation] }
        try await control("POST", "faults", message)
    }

    /// Resets every connection, as if nobody were there, until `comeBack`.
    func goAway() async throws { try await fail(nil, ["kind": "reset", "times": 0]) }

    /// Forgets all faults.
    func comeBack() async throws { try await control("DELETE", "faults") }

    func behave(_ behaviour: [String: Any]) async throws { try await control("PUT", "behaviour", behaviour) }

    func setRules(_ rules: [[String: Any]]) async throws { try await control("PUT", "rules", rules) }

    func setDecisions(_ decisions: [[String: Any]]) async throws { try await control("PUT", "decisions", decisions) }

    func setIntegration(_ serviceProvider: String, _ mvpd: String, _ values: [String: Any]) async throws {
        try await control("PUT", "integrations/\(serviceProvider)/\(mvpd)", values)
    }

    // MARK: Who is known

    /// The compact text of a software statement.
    func statement(_ id: String = "acme-v2") async throws -> String {
        let list = try JSONSerialization.jsonObject(with: Data(try await control("GET", "statements").body)) as? [[String: Any]]
        return try #require(list?.first { $0["id"] as? String == id }?["text"] as? String)
    }

    /// Removes profiles.
    /// - Parameter filter: `device`, `mvpd`, `serviceProvider`, `client`, `person` or `id`; all that are given must fit.
    /// - Returns: The text that `putBack` takes.
    @discardableResult
    func removeProfiles(_ filter: [(String, String)] = []) async throws -> String {
        try await control("DELETE", "profiles?\(FormEncoding.encode(filter))").text
    }

    /// Makes removed profiles be there again.
    func putBack(_ profiles: String) async throws {
        let answer = try await send("POST", "/control/profiles", [("Content-Type", "application/json")], body: profiles)
        try #require(answer.status == 200, "\(answer.text)")
    }

    // MARK: The person

    /// A person's way in the browser: from the address that an app opens to the one where the login ends.
    /// - Parameter action: `sign-in` or `cancel`.
    /// - Returns: The answer that leads back: its `location` is the `redirectUrl` of the session.
    func signIn(at url: String, as person: String = "ada", action: String = "sign-in") async throws -> HTTPAnswer {
        let start = try await exchange.send("GET", url.hasPrefix("/") ? address + url : url)
        let page = try #require(start.header("location"), "\(start.status) \(start.text)")
        let form = try await send("GET", page).text
        let state = try #require(form.firstMatch(of: /name="state" value="([^"]*)"/)?.1)
        let path = try #require(page.split(separator: "?").first)
        let fields = FormEncoding.encode([("state", String(state)), ("username", person), ("password", person), ("action", action)])
        return try await send("POST", String(path), [("Content-Type", "application/x-www-form-urlencoded")], body: fields)
    }
}
