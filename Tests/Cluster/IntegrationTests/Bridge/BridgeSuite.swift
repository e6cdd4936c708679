@testable import ClusterCommands
@testable import CommandKit
import Foundation
import Testing

/// The steps that the suites of the bridge have in common.
protocol BridgeSuite: Sendable {}

extension BridgeSuite {
    /// The upstream, without faults and with an empty log.
    func upstream() async throws -> StandInUpstream {
        let upstream = try StandInUpstream.running()
        try await upstream.comeBack()
        try await upstream.forgetCalls()
        return upstream
    }

    /// A person signs a device in through the upstream's own page.
    /// - Returns: The code that was used.
    @discardableResult
    func signIn(
        _ device: Device, at mvpd: String = "CoastCable", as person: String = "ada", action: String = "sign-in", code given: String? = nil
    ) async throws -> String {
        let upstream = try StandInUpstream.running()
        var code = given
        if code == nil { code = try await device.code() }
        let begun = try await device.authenticate(try #require(code), mvpd: mvpd)
        try #require(begun.status == 302, "\(begun.status) \(begun.text)")
        let back = try await upstream.signIn(at: try #require(begun.header("location")), as: person, action: action)
        let address = try #require(back.header("location"), "\(back.status) \(back.text)")
        guard device.requestor == "ACME1" else { return try #require(code) }
        try #require(address.hasPrefix("\(device.cluster.gateway)/bridge/return/"), "\(address)")
        let end = try await device.cluster.exchange.send("GET", address)
        #expect(end.status == 302 && end.header("location") == device.end, "\(end.status) \(end.text)")
        return try #require(code)
    }

    /// The same in programmer mode, where the page that began the login asks once when the browser is back.
    func signInByLooking(_ device: Device, at mvpd: String = "HillTel", as person: String = "ada") async throws {
        let code = try await signIn(device, at: mvpd, as: person)
        try #require(try await device.checkAuthn(code: code) == 200)
    }

    /// Changes the upstream's record, or an entry, for a while.
    func changing(
        _ path: String, _ edit: (inout [String: Any]) -> Void, until isKnown: () async throws -> Bool, _ body: () async throws -> Void
    ) async throws {
        let olga = try await Administrator.fresh()
        let before = try #require(try await olga.send("GET", path).object["entity"] as? [String: Any])
        let changed = try await olga.change(path) { edit(&$0) }
        try #require(changed.status == 200, "\(changed.text)")
        try await olga.push("A change")
        try await Condition.wait("it is known", within: .seconds(15), until: isKnown)
        do { try await body() } catch {
            _ = try await olga.send("PUT", path, before, ifMatch: "*")
            try await olga.push("As before")
            throw error
        }
        #expect(try await olga.send("PUT", path, before, ifMatch: "*").status == 200)
        try await olga.push("As before")
    }

    /// Has the devices register with another software statement. One that was used is never replaced under its name.
    func useStatement(_ reference: String) async throws {
        let olga = try await Administrator.fresh()
        let changed = try await olga.change("/upstreams/vendor") { upstream in
            var clients = try #require(upstream["clients"] as? [[String: Any]])
            let index = try #require(clients.firstIndex { $0["id"] as? String == "tv" })
            clients[index]["statementReference"] = reference
            upstream["clients"] = clients
        }
        #expect(changed.status == 200, "\(changed.text)")
        try await olga.push("The statement \(reference)")
    }

    /// How often each alarm was raised, by its event.
    func alarms() async throws -> [String: Int] {
        let answer = try await Administrator.local().send("GET", "/upstreams/vendor")
        let state = try #require(answer.object["state"] as? [String: Any], "\(answer.text)")
        let alarms = state["alarms"] as? [[String: Any]] ?? []
        return Dictionary(uniqueKeysWithValues: alarms.map { ($0["event"] as? String ?? "", $0["count"] as? Int ?? 0) })
    }

    /// The results of so many calls at once.
    func atOnce<Value: Sendable>(_ count: Int, _ work: @escaping @Sendable () async throws -> Value) async throws -> [Value] {
        try await withThrowingTaskGroup(of: Value.self) { group in
            for _ in 0..<count { group.addTask { try await work() } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
    }
}
