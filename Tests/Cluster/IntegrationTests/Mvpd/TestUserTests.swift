@testable import ClusterCommands
@testable import CommandKit
import Foundation
import Testing

/// The demo as it comes: each MVPD has a test user who signs in once a minute.
@Suite("Test users", .serialized, .clusterWithTestUsers)
struct TestUserTests {
    private static let mvpds = ["LakeTel", "NorthCable", "OpenFiber"]

    private func states(_ administrator: Administrator) async throws -> [[String: Any]] {
        let answer = try await administrator.send("GET", "/scheduled-sign-ins")
        try #require(answer.status == 200, "\(answer.text)")
        return try #require(answer.object["scheduledSignIns"] as? [[String: Any]])
    }

    /// - Parameter result: The result of all of them.
    private func wait(_ administrator: Administrator, until result: String) async throws -> [[String: Any]] {
        do {
            try await Condition.wait("every test user has \(result)", within: .seconds(90)) {
                try await states(administrator).allSatisfy { $0["result"] as? String == result }
            }
        } catch {
            Issue.record("\(try await states(administrator))")
            throw error
        }
        return try await states(administrator)
    }

    @Test("each signs in by SAML or OAuth, step by step, and counts for no viewer; a password that changed is told with its step")
    func signIn() async throws {
        let administrator = try Administrator.local()
        let cluster = administrator.cluster
        let good = try await wait(administrator, until: "succeeded")
        #expect(good.compactMap { $0["mvpd"] as? String } == Self.mvpds)
        for state in good {
            let steps = try #require(state["steps"] as? [[String: Any]])
            #expect(steps.compactMap { $0["name"] as? String } == ["start", "page", "login", "answer"], "\(state)")
            #expect(steps.compactMap { $0["milliseconds"] as? Int }.reduce(0, +) < 10_000, "\(state)")
        }
        let reports = try await administrator.send("GET", "/sign-ins")
        #expect((reports.object["signIns"] as? [Any])?.isEmpty == true, "\(reports.text)")
        let bearer = try await Client.register("acme-ops").accessToken()
        let usage = try await cluster.send(
            Call("GET", "/esm/v3/year.json", query: ["requestor-id": "ACME1"], headers: ["Authorization": "Bearer \(bearer)"]))
        #expect(usage.status == 200 && (usage.object["report"] as? [Any])?.isEmpty == true, "\(usage.text)")
        let metrics = try await cluster.exchange.send("GET", "http://127.0.0.1:\(cluster.ports.debug(.authentication))/metrics").text
        for mvpd in Self.mvpds {
            #expect(metrics.contains(#"boxoffice_authentication_scheduled_sign_in_failures{mvpd="\#(mvpd)"} 0"#))
            #expect(metrics.contains(#"boxoffice_authentication_scheduled_sign_ins_total{mvpd="\#(mvpd)",result="succeeded"}"#))
        }
        for cache in ["sessions", "absent sessions", "clients", "codes", "logins"] {
            #expect(metrics.contains(#"boxoffice_storage_cache_entries{cache="\#(cache)",store="authentication"} "#), "\(cache)")
        }
        #expect(metrics.contains(#"boxoffice_storage_cache_limit_entries{cache="sessions",store="authentication"} 65536"#))
        #expect(
            !metrics.contains("boxoffice_authentication_sign_ins_ended_total{")
                && !metrics.contains("boxoffice_authentication_sign_ins_started_total 1"))

        try Data("somebody-changed-it".utf8).write(to: cluster.home.pki.appendingPathComponent("test-viewer.secret"), options: .atomic)
        for state in try await wait(administrator, until: "failed") {
            #expect(state["failedStep"] as? String == "login" && state["reason"] as? String == "login_refused", "\(state)")
            let explanation = try #require(state["explanation"] as? String)
            #expect(explanation.contains("422") && explanation.contains("That did not work.") && !explanation.contains("somebody-changed-it"))
            #expect((state["failures"] as? Int ?? 0) >= 1 && (state["failingSince"] as? Int ?? 0) > 0)
        }
        let home = try FileManager.default.contentsOfDirectory(at: cluster.home.logs, includingPropertiesForKeys: nil)
        for file in home {
            let log = try String(contentsOf: file, encoding: .utf8)
            #expect(!log.contains("somebody-changed-it"), "\(file.lastPathComponent)")
        }
        let log = try String(contentsOf: cluster.home.logs.appendingPathComponent("authentication.log"), encoding: .utf8)
        #expect(log.contains("scheduled_sign_in.failed"))
    }
}
