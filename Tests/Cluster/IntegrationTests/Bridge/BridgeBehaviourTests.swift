@testable import ClusterCommands
@testable import CommandKit
import Foundation
import Testing

extension BridgeTests {
    private static let isOnFiles = ProcessInfo.processInfo.environment["BOXOFFICE_TEST_STORE"] == nil

    /// Kills authentication, changes its store, and starts it again.
    private func restart(_ cluster: TestCluster, changing statements: String = "") async throws {
        let running = try cluster.process(.authentication)
        running.signal(SIGKILL)
        try await Condition.wait("authentication has stopped") { !running.isRunning }
        if !statements.isEmpty {
            let file = cluster.home.data.appendingPathComponent("authentication/authentication.sqlite").path
            let script = "import sqlite3, sys; c = sqlite3.connect(sys.argv[1], timeout=10); c.executescript(sys.argv[2]); c.commit()"
            let outcome = try Program.run("/usr/bin/python3", ["-c", script, file, statements])
            try #require(outcome.status == 0, "\(outcome.output)")
        }
        _ = try await cluster.starter.restart(.authentication)
        let statement = try Client.statement("acme-tv")
        try await Condition.wait("it is there again") {
            try await cluster.send(.json("/o/client/register", ["software_statement": statement])).status == 201
        }
    }

    private func config(_ information: String) async throws -> HTTPAnswer {
        let headers = ["X-Device-Info": Device.encoded(information)]
        return try await TestCluster.running().send(Call("GET", "/api/v1/config/ACME1.json", headers: headers))
    }

    private static let roku = #"{"primaryHardwareType":"SetTopBox","model":"Roku 4","manufacturer":"Roku","osName":"Roku OS"}"#
    private static let appleTV = #"{"primaryHardwareType":"SetTopBox","model":"AppleTV6,2","osName":"tvOS"}"#
    private static let desktop = #"{"primaryHardwareType":"Desktop","model":"PC","osName":"Windows"}"#

    @Test(
        "bridge B27, B28: a class is one call for a hundred questions; with upstream away its list serves after a restart, for 7 days; then, or without one, 503",
        .enabled(if: isOnFiles))
    func keepsLists() async throws {
        let upstream = try await upstream()
        let cluster = try TestCluster.running()
        try await restart(cluster, changing: "DELETE FROM bridge_list;")
        try await upstream.forgetCalls()
        for _ in 0..<100 { #expect(try await config(Self.roku).text.contains("CoastCable")) }
        #expect(try await upstream.count("configuration") == 1)
        #expect(try await config(Self.appleTV).text.contains("CoastCable"))
        #expect(try await upstream.count("configuration") == 2)
        try await upstream.goAway()
        try await restart(
            cluster,
            changing: """
                UPDATE bridge_list SET listed_at_ms = listed_at_ms - 3600000 WHERE lower(place) LIKE 'vendor/acme1/%roku%';
                UPDATE bridge_list SET listed_at_ms = listed_at_ms - 604800000 WHERE lower(place) LIKE 'vendor/acme1/%tvos%';
                """)
        for _ in 0..<3 {
            let kept = try await config(Self.roku)
            #expect(kept.status == 200 && kept.text.contains("CoastCable") && kept.text.contains("NorthCable"), "\(kept.status) \(kept.text)")
        }
        for other in [Self.appleTV, Self.desktop] {
            let none = try await config(other)
            #expect(none.status == 503 && (none.header("retry-after").flatMap { Int($0) } ?? 0) >= 1, "\(none.status) \(none.text)")
            #expect(!none.text.contains("NorthCable"), "no partial list: \(none.text)")
        }
        try await upstream.comeBack()
        for device in [Self.roku, Self.appleTV, Self.desktop] {
            try await Condition.wait("its list is there", within: .seconds(30)) { try await config(device).text.contains("CoastCable") }
        }
    }

    @Test("bridge B25: a Roku token goes along where people and permits are asked about, and with its code's login; it is kept sealed")
    func passesRokuTokens() async throws {
        let upstream = try await upstream()
        let device = try await Device.make()
        let (first, second) = ("roku-token-\(UUID().uuidString)", "roku-token-\(UUID().uuidString)")
        var request = device.codeCall()
        request.headers["X-Roku-Reserved-Roku-Connect-Token"] = first
        let code = try #require(try await device.cluster.send(request).object["code"] as? String)
        try await signIn(device, code: code)
        var call = device.call("/api/v1/authorize", ["resource": "ACME1-NEWS"])
        call.headers["X-Roku-Reserved-Roku-Connect-Token"] = second
        #expect(try await device.cluster.send(call).status == 200)
        #expect(try await device.logout() == 204)
        let entries = try await upstream.entries()
        func carrying(_ token: String) -> [StandInUpstream.Entry] { entries.filter { $0.headers["x-roku-reserved-roku-connect-token"] == token } }
        #expect(carrying(first).map(\.operation) == ["createSession"])
        #expect(carrying(second).map(\.operation) == ["authorize"])
        #expect((carrying(first) + carrying(second)).allSatisfy { $0.headers["adobe-subject-token"] == nil }, "it is no other platform's")
        #expect(entries.contains { $0.operation == "logout" })
        let home = device.cluster.home
        for place in [home.data, home.logs] {
            for case let file as URL in FileManager.default.enumerator(at: place, includingPropertiesForKeys: nil) ?? .init() {
                guard !file.lastPathComponent.hasPrefix("sandbox"), let content = try? Data(contentsOf: file) else { continue }
                for token in [first, second] { #expect(content.range(of: Data(token.utf8)) == nil, "\(file.lastPathComponent)") }
            }
        }
    }
}

extension BridgeClockTests {
    @Test("bridge B60: an integration that upstream closes is 400 here, hidden from apps for 120 s without a call, and works again without a login")
    func waitsForIntegrations() async throws {
        let upstream = try await upstream()
        let device = try await settled(at: "FenTel")
        try await upstream.setIntegration("ACME1", "FenTel", ["isEnabled": false])
        let closed = try await device.authorize("ACME1-NEWS")
        #expect(closed.status == 400, "\(closed.status) \(closed.text)")
        try await upstream.setIntegration("ACME1", "FenTel", ["isEnabled": true])
        try await upstream.forgetCalls()
        for span in [0, 60, 55] as [Int64] {
            try pass(.seconds(span))
            #expect(try await device.checkAuthn() == 403)
            #expect(try await device.authnToken().status == 404)
            #expect(try await device.authorize("ACME1-NEWS").status == 400)
            #expect(try await device.preauthorize("ACME1-NEWS").status == 412)
        }
        #expect(try await upstream.entries().filter { $0.path.hasSuffix("/FenTel") }.isEmpty, "nobody asks")
        try pass(.seconds(6))
        #expect(try await device.checkAuthn() == 200)
        #expect(try await device.authorize("ACME1-NEWS").status == 200)
        #expect(try await upstream.count("createSession") == 0)
    }
}
