@testable import ClusterCommands
@testable import CommandKit
import Foundation
import Testing

/// The program `boxoffice device` against the programs of a cluster.
@Suite("boxoffice device", .serialized, .cluster)
struct DeviceCommandTests {
    private func device(_ arguments: String...) throws -> Program {
        let cluster = try TestCluster.running()
        let program = cluster.starter.binaries.appendingPathComponent("boxoffice").path
        return try .run("/usr/bin/env", ["BOXOFFICE_HOME=\(cluster.home.root.path)", program, "device"] + arguments)
    }

    /// - Returns: The program's end, with a script of that text.
    private func play(_ script: String, _ more: String...) throws -> Program {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("script-\(UUID().uuidString).json")
        try Data(script.utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let cluster = try TestCluster.running()
        let program = cluster.starter.binaries.appendingPathComponent("boxoffice").path
        return try .run("/usr/bin/env", ["BOXOFFICE_HOME=\(cluster.home.root.path)", program, "device", "--script", file.path] + more)
    }

    private func folder() -> String { FileManager.default.temporaryDirectory.appendingPathComponent("device-\(UUID().uuidString)").path }

    @Test("a sign-in that fails names the trace of its page, and 'explain' says by it, by --last and in its list what was wrong")
    func leadsToExplanation() async throws {
        let cluster = try TestCluster.running()
        let program = cluster.starter.binaries.appendingPathComponent("boxoffice").path
        func explain(_ arguments: String...) throws -> Program {
            try .run("/usr/bin/env", ["BOXOFFICE_HOME=\(cluster.home.root.path)", program, "explain"] + arguments)
        }
        let mistake = try await cluster.exchange.send(
            "POST", cluster.standIns.sandbox + "/control/evil/NorthCable", headers: [("Content-Type", "application/json")],
            body: #"{"attack": "foreignAudience"}"#)
        #expect(mistake.status == 204, "\(mistake.text)")
        let failed = try device("--as", "ada")
        #expect(failed.status == 1, "\(failed.output)")
        let told = try #require(failed.output.firstMatch(of: /trace ([0-9a-f]{32}): 'boxoffice explain ([0-9a-f]{32})'/), "\(failed.output)")
        let trace = String(told.1)
        #expect(told.1 == told.2)
        let explained = try explain(trace)
        #expect(explained.status == 1 && explained.output.contains("FAIL") && explained.output.contains("reason audience"), "\(explained.output)")
        #expect(!explained.output.contains("  ok  ") && explained.output.contains("--all shows them."), "\(explained.output)")
        #expect(try explain(trace, "--all").output.contains("  ok  "))
        #expect(try explain("--last").output == explained.output)
        let list = try explain("--mvpd", "NorthCable")
        #expect(list.status == 0 && list.lines.first?.hasPrefix(trace) == true, "\(list.output)")
    }

    @Test("client-sdk #50: a code that expires ends with exit code 5")
    func endsWithCode() throws {
        let end = try play(#"{"steps": [{"do": "signin", "provider": "NorthCable", "person": "lets-code-expire"}]}"#)
        #expect(end.status == 5, "\(end.output)")
        #expect(end.output.contains("the registration code expired"))
    }

    @Test("client-sdk #73: a value under auto-signin enable on one device is redeemed on another, and plays without a code")
    func redeemsOnAnother() throws {
        let (first, second, account) = (folder(), folder(), "command-\(UUID().uuidString)")
        defer { for folder in [first, second] { try? FileManager.default.removeItem(atPath: folder) } }
        let signIn = try device("signin", "--as", "ada", "--state", first, "--apple-account", account)
        #expect(signIn.status == 0, "\(signIn.output)")
        #expect(try device("auto-signin", "redeem", "--state", second, "--apple-account", account).status == 1, "there is no value yet")
        #expect(try device("status", "--state", second).status == 1)
        let enable = try device("auto-signin", "enable", "--state", first, "--apple-account", account)
        #expect(enable.status == 0, "\(enable.output)")
        let redeem = try device("auto-signin", "redeem", "--state", second, "--apple-account", account, "--json")
        #expect(redeem.status == 0 && !redeem.output.contains("REGCODE"), "\(redeem.output)")
        let played = try device("play", "ACME1-NEWS", "--state", second)
        #expect(played.status == 0 && played.output.contains("verified"), "\(played.output)")
        #expect(try device("logout", "--state", second).status == 0)
        #expect(try device("play", "ACME1-NEWS", "--state", second).status == 1)
    }

    @Test("a script plays devices, platform, network and clock, and its journal is lines of JSON")
    func playsScript() throws {
        let script = """
            {"devices": [{"name": "tv", "appleAccount": "script-\(UUID().uuidString)"}, {"name": "phone", "platform": "ios"},
                         {"name": "apple", "scenario": {"permission": {"initial": "granted"}, "system": {"provider": "north-cable"}}}],
             "steps": [
               {"do": "signin", "provider": "NorthCable", "as": "ben", "expect": {"provider": "NorthCable", "source": "regular"}},
               {"do": "preflight", "resources": ["ACME1-NEWS", "ACME1-SPORT"], "expect": {"permitted": ["ACME1-NEWS"]}},
               {"do": "play", "resource": "ACME1-NEWS"},
               {"do": "play", "resource": "ACME1-SPORT", "expect": {"outcome": "refused", "code": "Z100", "text": "package"}},
               {"device": "phone", "do": "signin", "provider": "NorthCable", "as": "ada"},
               {"device": "phone", "do": "logout", "expect": {"signedIn": false}},
               {"device": "apple", "do": "status", "expect": {"source": "apple"}},
               {"device": "apple", "do": "metadata", "key": "tokenSource", "expect": {"value": "Apple"}},
               {"device": "apple", "do": "settings", "permission": "denied"},
               {"device": "apple", "do": "status", "expect": {"signedIn": false, "code": "VSA403"}},
               {"do": "network", "fault": "captive-portal"},
               {"do": "launch", "expect": {"outcome": "unreachable", "code": "CFG404"}},
               {"do": "network", "fault": "none"},
               {"do": "clock", "ahead": 86400},
               {"do": "launch", "expect": {"code": "CFG100", "signedIn": true}},
               {"do": "logout"},
               {"do": "signin", "provider": "NorthCable", "as": "eve", "expect": {"outcome": "refused", "text": "refuses the login"}},
               {"do": "signin", "provider": "NorthCable", "person": "gives-up", "expect": {"outcome": "cancelled"}},
               {"do": "status", "expect": {"signedIn": false}}]}
            """
        let end = try play(script, "--json")
        #expect(end.status == 0, "\(end.output)")
        let entries = try end.lines.map { try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any]) }
        #expect(entries.compactMap { $0["sequence"] as? Int } == Array(1...entries.count))
        let names = entries.compactMap { $0["name"] as? String }
        #expect(names.count { $0 == "step" } == 19 && names.last == "end")
        #expect(
            Set(["setRequestorComplete", "setAuthenticationStatus", "setToken", "tokenRequestFailed", "status", "sendTrackingData"]).isSubset(
                of: names))
        let token = entries.first { $0["name"] as? String == "setToken" }?["arguments"] as? [String]
        #expect(token?.first?.count == 9, "a media token is shortened")
    }

    @Test(
        "exit codes say what went wrong",
        arguments: [
            (#"{"steps": [{"do": "play", "resource": "ACME1-NEWS"}]}"#, 1 as Int32), (#"{"steps": [{"do": "fly"}]}"#, 2),
            (#"{"steps": [{"do": "network", "fault": "status", "status": 400, "path": "/o/"}, {"do": "status"}]}"#, 4),
            (#"{"steps": [{"do": "network", "fault": "status", "status": 400, "path": "/api/v1/config"}, {"do": "status"}]}"#, 3),
            (#"{"steps": [{"do": "network", "fault": "unreachable"}, {"do": "status"}]}"#, 4),
            (#"{"steps": [{"do": "status", "expect": {"signedIn": true}}]}"#, 6),
            (#"{"steps": [{"do": "signin", "provider": "NorthCable", "as": "eve"}]}"#, 1),
            (#"{"steps": [{"do": "signin", "provider": "NorthCable", "person": "gives-up"}]}"#, 130),
        ])
    func endsWithExitCode(script: String, status: Int32) throws {
        let end = try play(script)
        #expect(end.status == status, "\(end.output)")
        #expect(end.output.contains("boxoffice: "))
    }

    @Test("what cannot be used is usage", arguments: [["fly"], ["play", "a", "b"], ["--poll", "1"], ["--count", "0"], ["auto-signin", "x"]])
    func refusesUsage(arguments: [String]) throws {
        let cluster = try TestCluster.running()
        let program = cluster.starter.binaries.appendingPathComponent("boxoffice").path
        let end = try Program.run("/usr/bin/env", ["BOXOFFICE_HOME=\(cluster.home.root.path)", program, "device"] + arguments)
        #expect(end.status == 2, "\(end.output)")
    }

    @Test("many devices sign in in one process, with a summary")
    func playsFleet() throws {
        let end = try device("--count", "24", "--at-once", "8", "--json")
        #expect(end.status == 0, "\(end.output)")
        let summary = try #require(try JSONSerialization.jsonObject(with: Data(end.lines.last?.utf8 ?? "".utf8)) as? [String: Any])
        #expect(summary["succeeded"] as? Int == 24 && summary["failed"] as? Int == 0)
        #expect(["debug", "release"].contains(summary["build"] as? String), "the gateway says how it was built")
        let steps = try #require(summary["steps"] as? [String: [String: Any]])
        #expect(steps.count == 5 && steps.values.allSatisfy { $0["count"] as? Int == 24 })
        let refused = try device("--count", "3", "--as", "cleo", "--json")
        #expect(refused.status == 1 && refused.output.contains(#""failures":{"permission and media token: Z100":3}"#), "\(refused.output)")
    }
}
