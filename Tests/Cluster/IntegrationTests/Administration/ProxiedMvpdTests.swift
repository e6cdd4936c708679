@testable import Simulation
@testable import ClusterCommands
@testable import CommandKit
import Foundation
import Testing
import TextEncodings

extension AdministrationApiTests {
    /// A proxy keeps the list of its MVPDs by itself, at the public address (dashboard §4).
    @Suite("MVPDs that a proxy lists") struct ProxiedMvpdTests {
        private static let list = """
            <proxiedMvpds xmlns="http://tve.adobe.com/data/proxiedmvpd">
              <proxiedMvpd><id ProviderID="town-01">TownCable</id><displayName>Town Cable</displayName><logoURL></logoURL></proxiedMvpd>
              <proxiedMvpd>
                <id>HillTel</id><displayName>Hill Tel</displayName><logoURL></logoURL><requestorIds><requestorId>ACME2</requestorId></requestorIds>
              </proxiedMvpd>
            </proxiedMvpds>
            """

        private func send(_ cluster: TestCluster, _ method: String, _ list: String? = nil, to mvpd: String = "NorthCable") async throws -> HTTPAnswer
        {
            let token = try String(contentsOf: cluster.home.pki.appendingPathComponent("petra.token"), encoding: .utf8)
            return try await cluster.exchange.send(
                method, "\(cluster.gateway)/control/v3/mvpd-proxies/\(mvpd)/mvpds",
                headers: [("Authorization", "Bearer \(token)"), ("Content-Type", "application/x-www-form-urlencoded")],
                body: list.map { FormEncoding.encode([("proxied-mvpds", $0)]) })
        }

        private func listed(_ cluster: TestCluster, _ requestor: String) async throws -> [String] {
            let answer = try await cluster.exchange.send("GET", "\(cluster.gateway)/api/v1/config/\(requestor).json")
            let record = try #require(answer.object["requestor"] as? [String: Any])
            return try #require(record["mvpds"] as? [[String: Any]]).compactMap { $0["id"] as? String }
        }

        @Test("dashboard #31, mvpd #5: a list is in the pickers and signs people in through the proxy; an empty one removes all, with an alarm")
        func keepsList() async throws {
            let cluster = try TestCluster.running()
            #expect(try await send(cluster, "GET").status == 401)
            try await Self.admit(cluster)
            try await Condition.wait("the gateway knows the proxy's address") { try await send(cluster, "GET").status == 200 }
            #expect(try await send(cluster, "POST", Self.list).status == 201)
            try await Condition.wait("the picker has it", within: .seconds(2)) { try await listed(cluster, "ACME1").contains("TownCable") }
            #expect(try await listed(cluster, "ACME1").contains("HillTel") == false)

            let app = try await cluster.app()
            let end = try await cluster.signIn(app, code: try await app.requestCode().code, at: "TownCable")
            #expect(end.contains("/activate/done"))
            let profile = try await app.send("GET", "/api/v1/tokens/authn.json?\(app.deviceSet())")
            #expect(profile.status == 200 && profile.object["mvpd"] as? String == "TownCable", "\(profile.text)")

            #expect(try await send(cluster, "POST", "<proxiedMvpds/>", to: "LakeTel").status == 403)
            let foreign = Self.list.replacingOccurrences(of: "ACME2", with: "NOBODY")
            #expect(try await send(cluster, "POST", foreign).status == 400)
            #expect(try await listed(cluster, "ACME1").contains("TownCable"))
            #expect(try await send(cluster, "POST", "<proxiedMvpds/>").status == 201)
            try await Condition.wait("the picker lacks it", within: .seconds(2)) { try await !listed(cluster, "ACME1").contains("TownCable") }
            let audit = try await Administrator.local().audit()
            #expect(audit.contains { $0["action"] as? String == "proxied_mvpds_dropped" && $0["author"] as? String == "petra" })
        }

        /// Lets the gateway take lists from this machine.
        private static func admit(_ cluster: TestCluster) async throws {
            let file = cluster.home.settings(of: .gateway)
            var settings = try #require(try JSONSerialization.jsonObject(with: Data(contentsOf: file)) as? [String: Any])
            var gateway = try #require(settings["gateway"] as? [String: Any])
            gateway["mvpdProxyAddresses"] = ["127.0.0.0/8", "::1"]
            settings["gateway"] = gateway
            try JSONSerialization.data(withJSONObject: settings).write(to: file, options: .atomic)
            let running = try cluster.process(.gateway)
            running.signal(SIGTERM)
            try await Condition.wait("the gateway has stopped") { !running.isRunning }
            _ = try await cluster.starter.restart(.gateway)
        }
    }
}
