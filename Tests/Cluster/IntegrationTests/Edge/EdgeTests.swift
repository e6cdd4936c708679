@testable import ClusterCommands
@testable import CommandKit
import Foundation
import PairedTimes
import Testing

/// The gateway's outer edge, on the real process.
@Suite("The gateway's edge", .serialized, .cluster)
struct EdgeTests {
    private let cluster: TestCluster

    init() throws { cluster = try TestCluster.running() }

    @Test(
        "curl agrees on HTTP/1.1 and HTTP/2 over TLS 1.2 and 1.3",
        arguments: [(["--http2"], "2"), (["--http1.1"], "1.1"), (["--http2", "--tls-max", "1.2"], "2"), (["--http1.1", "--tlsv1.3"], "1.1")])
    func versions(arguments: [String], version: String) throws {
        for host in ["localhost", "127.0.0.1"] {
            let url = "https://\(host):\(cluster.ports.https)/api/v1/config/ACME1.json"
            let outcome = try Peer.curl(cluster, arguments + ["-o", "/dev/null", "-w", "%{http_version} %{http_code} %{content_type}", url])
            #expect(outcome.output == "\(version) 200 application/json; charset=utf-8")
        }
    }

    @Test("administration is at its own listener, which has its own names; the public ones answer 404 there, over HTTP and HTTPS")
    func administrationHasItsOwnDoor() throws {
        func status(_ url: String, _ arguments: [String] = []) throws -> String {
            try Peer.curl(cluster, ["-o", "/dev/null", "-w", "%{http_code}"] + arguments + [url]).output
        }
        let file = try #require(try ClusterFile.read(cluster.home))
        let admin = try #require(file.admin)
        let bearer = ["-H", "Authorization: Bearer \(file.adminToken)"]
        #expect(try status("\(admin)/admin/v1/administrator", bearer) == "200")
        for outside in [cluster.gateway, cluster.gatewayTLS] {
            #expect(try status("\(outside)/admin/v1/administrator", bearer) == "404")
            #expect(try status("\(outside)/reset-tempass/v3/reset", bearer + ["-X", "DELETE"]) == "404")
            #expect(try status("\(outside)//admin/v1/administrator", bearer + ["--path-as-is"]) == "404")
        }
        #expect(try status("\(admin)/api/v1/config/ACME1") == "404")
        #expect(try status("\(admin)/admin/v1/administrator", bearer + ["-H", "Host: evil.example"]) == "421")
        #expect(try status("\(admin)/admin/v1/administrator", bearer + ["-H", "Origin: https://evil.example"]) == "403")
        #expect(try status("\(admin)/admin/v1/administrator", bearer + ["-H", "Origin: \(admin)"]) == "200")
        #expect(try status("\(admin)/admin/v1/administrator") == "401")
    }

    @Test(
        "octets that offer an upgrade, or ask for a tunnel, end no process: each is answered as the last request of its connection, at every listener"
    )
    func offersToUpgrade() throws {
        let process = try cluster.process(.gateway).pid
        let admin = try #require(try ClusterFile.read(cluster.home)?.admin)
        let next = #"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"#
        let offer = #"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: upgrade\t\r\nUpgrade: x\r\n\r\n"#
        let tunnel = #"CONNECT localhost:80 HTTP/1.1\r\nHost: localhost:80\r\n\r\n"#
        for (octets, status) in [(offer, "200"), (tunnel, "501")] {
            func expectOneAnswer(_ program: Program) {
                let statuses = program.output.split(separator: "\n").filter { $0.hasPrefix("HTTP/1.1 ") }.map { $0.dropFirst(9).prefix(3) }
                #expect(statuses == [status[...]], "\(program.output)")
            }
            for port in try [cluster.gateway, admin].map({ try #require($0.split(separator: ":").last) }) {
                let script = "exec 3<>/dev/tcp/127.0.0.1/\(port); printf '\(octets)\(next)' >&3; timeout 10 cat <&3"
                expectOneAnswer(try .run("/bin/bash", ["-c", script]))
            }
            let authority = LocalPki(folder: cluster.home.pki).path("ca.crt")
            let words =
                "(printf '\(octets)\(next)'; sleep 1) | timeout 10 openssl s_client -quiet -connect 127.0.0.1:\(cluster.ports.https) -CAfile \(authority)"
            expectOneAnswer(try .run("/bin/bash", ["-c", words]))
        }
        let alive = try Peer.curl(cluster, ["-o", "/dev/null", "-w", "%{http_code}", "\(cluster.gateway)/healthz"])
        #expect(try alive.output == "200" && cluster.process(.gateway).pid == process)
    }

    @Test("openssl agrees on ALPN, chain and name; TLS 1.1 is refused")
    func handshakes() throws {
        let modern = try Peer.openssl(cluster, ["-alpn", "h2,http/1.1", "-verify_return_error", "-verify_hostname", "localhost"])
        #expect(modern.status == 0 && modern.output.contains("ALPN protocol: h2") && modern.output.contains("Verify return code: 0 (ok)"))
        let older = try Peer.openssl(cluster, ["-tls1_2"])
        #expect(older.output.contains("TLSv1.2") && older.output.contains("ECDHE") && older.output.contains("GCM"))
        let weak = try Peer.openssl(cluster, ["-tls1_2", "-cipher", "AES128-SHA:ECDHE-ECDSA-AES128-SHA"])
        #expect(weak.status != 0)
        let old = try Peer.openssl(cluster, ["-tls1_1", "-cipher", "DEFAULT@SECLEVEL=0"])
        #expect(old.status != 0 && old.output.contains("alert"))
    }

    @Test("a device's whole way over HTTPS: register, code, poll")
    func apiOverHTTPS() throws {
        let statement = try Client.statement("acme-tv")
        let body = "{\"software_statement\":\"\(statement)\"}"
        let registered = try Peer.curl(
            cluster, ["-H", "Content-Type: application/json", "-d", body, "-w", "%{http_code}", "\(cluster.gatewayTLS)/o/client/register"])
        #expect(registered.output.hasSuffix("201"))
        let headers = try Peer.curl(cluster, ["-I", "\(cluster.gatewayTLS)/healthz"])
        #expect(headers.output.lowercased().contains("strict-transport-security: max-age=300"))
    }

    @Test("files that are replaced are taken in without a restart; broken ones are told and change nothing")
    func certificateReload() async throws {
        let pki = LocalPki(folder: cluster.home.pki)
        let before = try serial()
        let device = try await Device.make()
        try FileManager.default.removeItem(atPath: pki.path("gateway-https.crt"))
        #expect(try pki.ensure() == ["gateway-https"])
        try cluster.process(.gateway).signal(SIGHUP)
        try await Condition.wait("the new certificate") { try serial() != before }
        let after = try serial()
        try await Condition.wait("a line in the log") { try !cluster.gatewayLog("https.reloaded").isEmpty }

        try Data("broken".utf8).write(to: URL(fileURLWithPath: pki.path("gateway-https.crt")))
        // No signal: the change itself is seen.
        try await Condition.wait("a line in the log") { try !cluster.gatewayLog("https.reload_refused").isEmpty }
        #expect(try serial() == after)
        try FileManager.default.removeItem(atPath: pki.path("gateway-https.crt"))
        try pki.ensure()
        #expect(try await device.checkAuthn() == 403)
    }

    @Test("rest-v1 #23, #24: a forwarded address is throttled, the next one and loopback are not; a moment later it is served again")
    func throttling() async throws {
        func call(_ address: String?) async throws -> HTTPAnswer {
            let headers = address.map { ["X-Forwarded-For": $0] } ?? [:]
            return try await cluster.send(Call("GET", "/api/v1/config/ACME1.json", headers: headers))
        }
        var answers: [HTTPAnswer] = []
        for _ in 0..<40 { answers.append(try await call("203.0.113.20")) }
        let refused = try #require(answers.first { $0.status == 429 })
        #expect(refused.isHTML && refused.header("retry-after") == "1" && refused.text == "429 Too Many Requests")
        #expect(answers.prefix(11).allSatisfy { $0.status == 200 })
        #expect(try await call("203.0.113.21").status == 200)
        for _ in 0..<40 { #expect(try await call(nil).status == 200) }
        try await Condition.wait("service again") { try await call("203.0.113.20").status == 200 }
    }

    @Test("dashboard #52: of 1,000 guesses without a break from one network five are looked up; neither a wrong nor the right one is confirmed")
    func guessing() async throws {
        let television = try await Device.make()
        let code = try await television.code()
        let from = { ["X-Forwarded-For": "2001:db8:7::\(Int.random(in: 1...9999))"] }
        func guess(_ text: String) async throws -> HTTPAnswer {
            try await cluster.send(Call("GET", "/activate/providers", query: ["code": text], headers: from()))
        }
        func poll(_ headers: [String: String]) async throws -> Int {
            let all = television.headers.merging(headers) { $1 }
            return try await cluster.send(Call("GET", "/api/v1/checkauthn/\(code)", query: ["requestor": "ACME1"], headers: all)).status
        }
        #expect(try await poll(from()) == 403, "the code waits for its person")
        var statuses: [Int] = []
        for number in 0..<1000 { statuses.append(try await guess("ZZ\(10000 + number)").status) }
        #expect(statuses.prefix(5) == [400, 400, 400, 400, 400] && statuses.dropFirst(5).allSatisfy { $0 == 429 })
        let right = try await guess(code)
        #expect(right.status == 429 && right.text.contains(code) && !right.text.contains("NorthCable"))
        #expect(Int(right.header("retry-after") ?? "") ?? 0 > 0)
        #expect(try await poll(from()) == 429, "the right code in a poll is not confirmed there either")
        #expect(try await poll(["X-Forwarded-For": "203.0.113.31"]) == 403, "televisions elsewhere are not disturbed")
        let other = try await cluster.send(Call("GET", "/activate/providers", query: ["code": code], headers: ["X-Forwarded-For": "203.0.113.30"]))
        #expect(other.status == 200, "people elsewhere are not disturbed")
    }

    /// Waits until it is.
    private func expiredCode() async throws -> String {
        let code = try await Device.make().code([("ttl", "1")])
        try await Condition.wait("the code's end") { try await codePage(code).contains("We do not know this code") }
        return code
    }

    private func codePage(_ code: String) async throws -> String {
        try await cluster.send(Call("GET", "/activate/providers", query: ["code": code])).text.replacingOccurrences(of: code, with: "CODE")
    }

    @Test("dashboard #43: an unknown and an expired code have the same text")
    func sameText() async throws {
        let page = try await codePage(try await expiredCode())
        for number in 0..<20 { #expect(try await codePage("ZY\(10000 + number)") == page) }
    }

    @Test("dashboard #43: an unknown and an expired code take the same time", .tags(.timing), .onReleasePrograms)
    func sameTime() async throws {
        let expired = try await expiredCode()
        let times = try await PairedTimes.measure(pairs: 400) {
            _ = try await codePage("ZY\(Int.random(in: 10_000...99_999))")
        } _: {
            _ = try await codePage(expired)
        }
        #expect(times.gap < 0.1, "\(times)")
    }

    @Test("hostile B6: codes that nobody uses are bounded at the limits of production: 100 of a device, 1,000 of an address; others get theirs")
    func unusedCodes() async throws {
        let services: [ClusterService] = [.authentication, .gateway]
        let originals = try services.map { try cluster.settings(of: $0) }
        // The demo's limits are for load tests; the throttle would make a thousand codes take a quarter of an hour.
        try await cluster.restart(.authentication) { settings in
            var own = try #require(settings["authentication"] as? [String: Any])
            for name in ["codesPerClient", "codesPerDevice"] { try #require(own.removeValue(forKey: name) != nil) }
            settings["authentication"] = own
        }
        try await cluster.restart(.gateway) { settings in
            var own = try #require(settings["gateway"] as? [String: Any])
            var throttle = try #require(own["throttle"] as? [String: Any])
            try #require(throttle["codes"] == nil)
            (throttle["perSecond"], throttle["burst"]) = (10_000, 10_000)
            own["throttle"] = throttle
            settings["gateway"] = own
        }
        do { try await fillCodes() } catch { Issue.record(error) }
        for (service, original) in zip(services, originals) { try await cluster.restart(service) { $0 = original } }
    }

    private func fillCodes() async throws {
        let device = try await Device.make()
        try await Condition.wait("codes are given") { try await device.requestCode([("deviceId", UUID().uuidString)]).status == 201 }
        var last = ""
        for _ in 0..<100 { last = try await device.code() }
        let refused = try await device.requestCode()
        #expect(refused.status == 429 && Int(refused.header("retry-after") ?? "") ?? 0 > 0, "\(refused.status) \(refused.text)")
        #expect(try await device.record(last).status == 200, "those before are good")
        #expect(try await device.requestCode([("deviceId", UUID().uuidString)]).status == 201, "another device of the client has its own")

        var household = device
        household.forwarded = "203.0.113.77"
        let one = household
        let given = try await withThrowingTaskGroup { group in
            for _ in 0..<8 {
                group.addTask {
                    var statuses: [Int] = []
                    for _ in 0..<130 { statuses.append(try await one.requestCode([("deviceId", UUID().uuidString)]).status) }
                    return statuses
                }
            }
            return try await group.reduce(into: [Int]()) { $0 += $1 }
        }
        #expect(given.count { $0 == 201 } == 1000 && given.count { $0 == 429 } == 40, "\(Set(given))")
        household.forwarded = "203.0.113.78"
        #expect(try await household.requestCode([("deviceId", UUID().uuidString)]).status == 201, "other addresses get theirs")
    }

    @Test("10 MB bodies, endless heads and silent connections do not grow the gateway, and others are served")
    func memory() async throws {
        let device = try await Device.make()
        let file = cluster.home.root.appendingPathComponent("10mb")
        try Data(repeating: 0x61, count: 10_485_760).write(to: file)
        func flood() async throws {
            for protocolChoice in ["--http2", "--http1.1"] {
                let outcome = try Peer.curl(
                    cluster,
                    [
                        "-o", "/dev/null", "-w", "%{http_code}", protocolChoice, "--data-binary", "@\(file.path)",
                        "\(cluster.gatewayTLS)/o/client/token",
                    ])
                #expect(outcome.output.contains("413"))
            }
            var silent: [OpenRequest] = []
            for _ in 0..<200 { silent.append(try OpenRequest(port: cluster.ports.main(.gateway))) }
            #expect(try await device.checkAuthn() == 403)
            silent.forEach { $0.abandon() }
        }
        for _ in 0..<3 { try await flood() }
        let before = try cluster.gatewayMemory()
        for _ in 0..<10 { try await flood() }
        let after = try cluster.gatewayMemory()
        #expect(after - before < 20_000, "\(before) KiB, later \(after) KiB")
    }

    @Test("a code whose answer was cut off is not lost: asking again gives a code that works")
    func cutConnection() async throws {
        let device = try await Device.make()
        let call = device.codeCall()
        for _ in 0..<20 {
            let request = try OpenRequest(port: cluster.ports.main(.gateway), text: call.wire)
            request.abandon()
        }
        let code = try await device.code()
        try await device.signIn(code: code)
        #expect(try await device.checkAuthn() == 200)
    }
}

extension EdgeTests {
    private func serial() throws -> String {
        let outcome = try Program.run(
            "/bin/sh",
            ["-c", "openssl s_client -connect 127.0.0.1:\(cluster.ports.https) </dev/null 2>/dev/null | openssl x509 -noout -serial -fingerprint"])
        try #require(outcome.status == 0, "\(outcome.output)")
        return outcome.output
    }
}
