@testable import ClusterCommands
@testable import CommandKit
import Foundation
import Testing

/// What operators see of an upstream: metrics that move, programs that stay ready, and an examination that leaves nothing behind (bridge §14.1).
extension BridgeTests {
    /// The bridge's series of a program, without their prefix, and their values.
    private static func numbers(_ service: ClusterService) async throws -> [String: Double] {
        let cluster = try TestCluster.running()
        let prefix = "boxoffice_\(service.rawValue)_bridge_"
        let text = try await cluster.exchange.send("GET", "http://\(ClusterAddresses(ports: cluster.ports).debug(service))/metrics").text
        var numbers: [String: Double] = [:]
        for line in text.split(separator: "\n") where line.hasPrefix(prefix) {
            guard let end = line.lastIndex(of: " ") else { continue }
            numbers[String(line[..<end].dropFirst(prefix.count))] = Double(line[line.index(after: end)...])
        }
        return numbers
    }

    private static func ready(_ service: ClusterService) async throws -> String {
        let cluster = try TestCluster.running()
        let answer = try await cluster.exchange.send("GET", "http://\(ClusterAddresses(ports: cluster.ports).debug(service))/readyz")
        return "\(answer.status) \(answer.text)"
    }

    @Test(
        "bridge §14.1: each of the fifteen metrics moves with what it tells; while upstream is away every program stays ready, without a word about it"
    )
    func movesMetrics() async throws {
        let upstream = try await upstream()
        let device = try await Device.make()
        let (before, decided) = (try await Self.numbers(.authentication), try await Self.numbers(.authorization))
        try await signIn(device)
        #expect(try await device.authorize("ACME1-NEWS").status == 200)
        for _ in 0..<2 { #expect(try await device.mediaToken("ACME1-NEWS").status == 200) }
        #expect(try await device.preauthorize("ACME1-NEWS").status == 200)
        try await upstream.fail("authorize", ["kind": "answer", "status": 429, "headers": ["Retry-After": "1"], "body": "wait", "times": 1])
        #expect(try await device.authorize("ACME1-SPORT").status == 200)
        let programs: [ClusterService] = [.gateway, .authentication, .authorization]
        var ready: [String] = []
        for program in programs { ready.append(try await Self.ready(program)) }
        try await upstream.goAway()
        #expect(try await device.authorize("ACME1-OTHER").status == 503)
        let late = try await Device.make()
        #expect(try await late.authenticate(try await late.code(), mvpd: "CoastCable").status == 503)
        for (program, was) in zip(programs, ready) {
            #expect(was.hasPrefix("200 "), "\(program): \(was)")
            #expect(try await Self.ready(program) == was, "\(program)")
        }
        _ = try await device.logout()
        try await upstream.comeBack()
        let (after, later) = (try await Self.numbers(.authentication), try await Self.numbers(.authorization))
        for series in [
            #"calls_total{operation="create",outcome="ok",upstream="vendor"}"#, #"calls_total{operation="byCode",outcome="ok",upstream="vendor"}"#,
            #"calls_total{operation="authorize",outcome="throttled",upstream="vendor"}"#,
            #"calls_total{operation="authorize",outcome="unreachable",upstream="vendor"}"#,
            #"call_duration_seconds_count{operation="authorize",upstream="vendor"}"#, #"tokens_issued_total{upstream="vendor"}"#,
            #"throttled_total{upstream="vendor"}"#, #"sign_ins_total{result="signed_in",upstream="vendor"}"#,
            #"sign_ins_total{result="failed",upstream="vendor"}"#, #"sessions_ended_total{reason="logout",upstream="vendor"}"#,
            #"preflight_batches_total{outcome="ok",upstream="vendor"}"#,
        ] { #expect(after[series, default: 0] > before[series, default: 0], "\(series)") }
        for series in [
            #"decisions_total{outcome="permit",source="mvpd",upstream="vendor"}"#,
            #"decisions_total{outcome="error",source="none",upstream="vendor"}"#,
            #"media_tokens_total{origin="held",upstream="vendor"}"#, #"media_tokens_total{origin="live",upstream="vendor"}"#,
        ] { #expect(later[series, default: 0] > decided[series, default: 0], "\(series)") }
        // Those that tell a state are looked at now and then.
        try await Condition.wait("states are told", within: .seconds(90)) {
            let now = try await Self.numbers(.authentication)
            return now[#"slots{state="ready",upstream="vendor"}"#, default: 0] > 0
        }
        let now = try await Self.numbers(.authentication)
        for series in ["statement_refused", "logouts_pending", "list_age_seconds"] {
            #expect(now[series + #"{upstream="vendor"}"#] != nil, "\(series)")
        }
        #expect(now[#"breaker_open{group="decision",upstream="vendor"}"#] != nil)
        // Requestors and MVPDs are in the log alone.
        #expect(now.keys.allSatisfy { !$0.contains("mvpd=") && !$0.contains("requestor=") && $0.contains("upstream=\"") })
    }

    @Test("an examination knows MVPDs and upstreams, takes seconds, and leaves nothing at either")
    func examines() async throws {
        let cluster = try TestCluster.running()
        let upstream = try await upstream()
        let program = cluster.starter.binaries.appendingPathComponent("boxoffice").path
        let begin = ContinuousClock.now
        let end = try Program.run("/usr/bin/env", ["BOXOFFICE_HOME=\(cluster.home.root.path)", program, "doctor", "--json"])
        #expect(begin.duration(to: .now) < .seconds(60))
        let findings =
            try #require(try JSONSerialization.jsonObject(with: Data(end.output.utf8)) as? [String: Any])["findings"] as? [[String: Any]] ?? []
        let peers = findings.filter { $0["area"] as? String == "peers" }
        #expect(!peers.isEmpty, "\(findings)")
        // Tests before may have left alarms; the servers themselves can be reached.
        #expect(!peers.contains { ($0["what"] as? String)?.contains("127.0.0.1") == true && $0["verdict"] as? String == "wrong" }, "\(peers)")
        // What tests before left to be told, such as logouts, may be told meanwhile; that leaves nothing either.
        let left = try await upstream.entries().filter { ["register", "createSession", "authorize", "preauthorize"].contains($0.operation) }
        #expect(left.isEmpty, "\(left)")
    }
}
