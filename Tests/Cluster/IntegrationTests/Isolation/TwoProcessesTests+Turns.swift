@testable import ClusterCommands
@testable import CommandKit
import Foundation
import Testing

/// Copies on one data folder take turns at a provider, and at Apple.
extension TwoProcessesTests {
    /// So short that each decision needs a new access token.
    private static let turns = #""accessTokenSeconds": 5, "rotatesRefreshTokens": true"#

    @Test(
        "clients #97, scale-out F3, F9: two copies refresh in turns; one that is killed in its turn costs no login and raises no alarm; both keep one catalogue"
    )
    func refreshesInTurns() async throws {
        try await withCluster { cluster in
            let other = try SecondCopy.start(.authentication, of: cluster)
            try await Condition.wait("the second copy is ready") { await other.readiness().isReady }
            let first = ClusterAddresses(ports: cluster.ports).main(.authentication)
            try await cluster.restart(.authorization) { try $0.setAddresses(of: "authentication", [first, other.address]) }
            do {
                try await TestCluster.$current.withValue(cluster) {
                    try await Self.killInTurn(cluster, other)
                    try await Self.keepOneCatalogue(cluster)
                }
            } catch {
                Issue.record("\(other.output.suffix(2000))")
                await other.stop()
                throw error
            }
            await other.stop()
        }
    }

    private static func killInTurn(_ cluster: TestCluster, _ other: SecondCopy) async throws {
        let control = OAuthControl(cluster: cluster)
        try await control.behave(turns)
        var devices: [Device] = []
        for _ in 0..<8 {
            devices.append(try await Device.make())
            try await devices[devices.count - 1].signInByOAuth()
        }
        // The same session at both copies at once.
        let crowd = try await answers(of: Array(repeating: devices[0], count: 12))
        #expect(crowd.allSatisfy(isPermitted), "\(crowd.map(\.text))")
        #expect(try await other.calls(of: "GetUpstreamToken") > 0, "the second copy takes part")

        try await control.behave(turns + #", "mode": "hang", "endpoint": "token""#)
        let waiting = Task { [devices] in try await answers(of: devices) }
        try await Condition.wait("each session is in somebody's turn") { try turnsUnderWay(cluster) == devices.count }
        other.process.signal(SIGKILL)
        try await Condition.wait("the second copy is gone") { !other.process.isRunning }
        try await control.behave(turns)
        _ = try await waiting.value
        // The copy that is left has given its turns up, as the provider did not answer.
        let left = try turnsUnderWay(cluster)
        #expect(left > 0 && left < devices.count, "\(left) of \(devices.count) turns are the dead copy's")
        // Ten seconds go by.
        try sqlite(store(of: .authentication, cluster), "UPDATE upstream_token SET refreshing_until_ms = 1 WHERE refreshing_until_ms IS NOT NULL")
        let after = try await answers(of: devices)
        #expect(after.allSatisfy(isPermitted), "\(after.map(\.text))")
        for device in devices { #expect(try await device.checkAuthn() == 200, "signed in all the time") }
        let log = try String(contentsOf: cluster.home.log(of: .authentication), encoding: .utf8) + other.output
        #expect(!log.contains("oauth_session_invalidated"), "nobody is alarmed")
    }

    /// Both copies have kept each version in the same file.
    private static func keepOneCatalogue(_ cluster: TestCluster) async throws {
        let other = try SecondCopy.start(.authentication, of: cluster)
        try await Condition.wait("a second copy is ready") { await other.readiness().isReady }
        let local = try Administrator.of(cluster)
        var version = 0
        for number in 0..<5 {
            try #require(try await local.change("/requestors/ACME2") { $0["name"] = "Kept \(number)" }.status == 200)
            version = try await local.push("Kept \(number)")
        }
        let own = cluster.home.log(of: .authentication)
        func adopted() throws -> [String] { [try String(contentsOf: own, encoding: .utf8), other.output] }
        try await Condition.wait("both have the last version") { try adopted().allSatisfy { $0.contains("\"version\":\"\(version)\"") } }
        await other.stop()
        #expect(try adopted().allSatisfy { !$0.contains("catalogue.snapshot_not_kept") })
        let config = try cluster.process(.config)
        config.signal(SIGTERM)
        try await Condition.wait("config has stopped") { !config.isRunning }
        let next = try SecondCopy.start(.authentication, of: cluster)
        try await Condition.wait("a copy starts without config") { await next.readiness().isReady }
        var line: Substring?
        try await Condition.wait("it says which catalogue it has") {
            line = next.output.split(separator: "\n").first { $0.contains("catalogue.adopted") }
            return line != nil
        }
        let found = try #require(line)
        #expect(found.contains("\"origin\":\"snapshot\"") && found.contains("\"version\":\"\(version)\""), "\(found)")
        await next.stop()
        let files = try FileManager.default.contentsOfDirectory(atPath: cluster.home.data.appendingPathComponent("authentication").path)
        #expect(files.filter { $0.hasSuffix(".new") } == [])
        _ = try await cluster.starter.start()
    }

    private static func answers(of devices: [Device]) async throws -> [HTTPAnswer] {
        try await withThrowingTaskGroup { group in
            // Unlike an authorization, it asks the provider each time.
            for device in devices { group.addTask { try await device.preauthorize("ACME1-NEWS") } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
    }

    private static func isPermitted(_ answer: HTTPAnswer) -> Bool {
        answer.status == 200 && (answer.object["resources"] as? [[String: Any]])?.first?["authorized"] as? Bool == true
    }

    /// The sessions for which a copy asks the provider now.
    private static func turnsUnderWay(_ cluster: TestCluster) throws -> Int {
        try count("upstream_token WHERE refreshing_until_ms IS NOT NULL", in: store(of: .authentication, cluster))
    }

    @Test("scale-out F2: a copy that stood still for longer than its turn with a letter to Apple changes nothing of what another one did since")
    func lostTurn() async throws {
        try await withCluster { cluster in
            try await TestCluster.$current.withValue(cluster) {
                let (control, file) = (try AppleControl.running(), Self.store(of: .autosignin, cluster))
                let (app, optIn) = try await AppleApp.optedIn(as: "ada")
                let before = try await control.calls("delete").count
                // The first one's try gets its answer late, the other one's is told to come again.
                let busy: [String: Any] = ["kind": "answer", "status": 503, "headers": ["Retry-After": "2"]]
                try await control.fault("delete", [["kind": "latency", "milliseconds": 2000], busy])
                #expect(try await app.optOut(optIn.family).status == 200)
                try await Condition.wait("the first copy asks Apple") { try await control.waiting("delete") == 1 }
                let first = try cluster.process(.autosignin)
                first.signal(SIGSTOP)
                // A process that stands still would not end either.
                defer { first.signal(SIGCONT) }
                let other = try SecondCopy.start(.autosignin, of: cluster)
                do {
                    try await Condition.wait("the second copy is ready") { await other.readiness().isReady }
                    try await control.wait(for: "delete", beyond: before)
                    // Two minutes go by.
                    try Self.sqlite(file, "UPDATE outbox SET next_at_ms = 1 WHERE is_claimed = 1")
                    try await Condition.wait("the second copy has had the letter") { other.output.contains("outbox_postponed") }
                    first.signal(SIGCONT)
                    let log = cluster.home.log(of: .autosignin)
                    try await Condition.wait("the first copy has lost its turn") {
                        try String(contentsOf: log, encoding: .utf8).contains("outbox_lease_lost")
                    }
                    #expect(try Self.count("outbox", in: file) == 1, "the letter is the second copy's")
                    try await Condition.wait("the letter is sent again") { try Self.count("outbox", in: file) == 0 }
                } catch {
                    Issue.record("\(other.output.suffix(2000))")
                    await other.stop()
                    throw error
                }
                let statuses = try await control.calls("delete").dropFirst(before).map(\.status)
                #expect(statuses == [204, 503, 404], "\(statuses)")
                #expect(try await app.apple.token().value == nil)
                await other.stop()
            }
        }
    }

    private static func store(of service: ClusterService, _ cluster: TestCluster) -> String {
        cluster.home.data.appendingPathComponent("\(service.rawValue)/\(service.rawValue).sqlite").path
    }

    /// - Parameter rows: A table, and which of its rows.
    private static func count(_ rows: String, in file: String) throws -> Int {
        let script = "import sqlite3, sys; print(sqlite3.connect(sys.argv[1], timeout=10).execute(sys.argv[2]).fetchone()[0])"
        let outcome = try Program.run("/usr/bin/python3", ["-c", script, file, "SELECT count(*) FROM \(rows)"])
        return try #require(Int(outcome.output.trimmingCharacters(in: .whitespacesAndNewlines)), "\(outcome.output)")
    }
}
