@testable import ClusterCommands
@testable import CommandKit
import Foundation
import Testing

/// Statements that are refused, and upstreams that hang or are away during a login: what that leaves in the memory of services would trouble other tests.
extension BridgeKillTests {
    @Test(
        "bridge B16: a revoked statement is 503 with 600 s for new devices, after one registration; who is signed in plays on; a new one works at once"
    )
    func outlivesStatements() async throws {
        let upstream = try await upstream()
        let signedIn = try await Device.make()
        try await signIn(signedIn)
        try await upstream.control("POST", "statements", ["id": "acme-v2-next", "serviceProviders": ["*"], "scopes": ["api:client:v2"]])
        try await upstream.control("DELETE", "statements/acme-v2")
        try await upstream.forgetCalls()
        for _ in 0..<4 {
            let device = try await Device.make()
            let begun = try await device.authenticate(try await device.code(), mvpd: "CoastCable")
            let seconds = begun.header("retry-after").flatMap { Int($0) } ?? 0
            #expect(begun.status == 503 && (570...600).contains(seconds) && begun.header("location") == nil, "\(begun.status) \(seconds)")
        }
        #expect(try await upstream.count("register") == 1)
        #expect(try await signedIn.authorize("ACME1-NEWS").status == 200)
        #expect(try await signedIn.mediaToken("ACME1-NEWS").status == 200)
        #expect(try await signedIn.checkAuthn() == 200)
        let cluster = signedIn.cluster
        let program = cluster.starter.binaries.appendingPathComponent("boxoffice").path
        let status = try Program.run("/usr/bin/env", ["BOXOFFICE_HOME=\(cluster.home.root.path)", program, "upstream", "status", "vendor"])
        #expect(status.output.contains("software statement acme-v2 as unapproved"), "\(status.output)")
        let next = ["secret": try await upstream.statement("acme-v2-next")]
        #expect(try await Administrator.fresh().send("POST", "/secrets/acme-v2-next", next).status == 200)
        try await useStatement("acme-v2-next")
        let device = try await Device.make()
        let code = try await device.code()
        try await Condition.wait("the new one is tried at once", within: .seconds(10)) {
            try await device.authenticate(code, mvpd: "CoastCable").status == 302
        }
    }

    @Test("bridge B43: upstream hangs at a step of a login: a page with 503 within ten seconds, no redirect; the code is good afterwards")
    func hangs() async throws {
        let upstream = try await upstream()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for step in ["register", "createSession"] { group.addTask { try await hangs(at: step, upstream) } }
            try await group.waitForAll()
        }
        // Calls for a token name no device.
        try await hangs(at: "token", upstream)
    }

    private func hangs(at step: String, _ upstream: StandInUpstream) async throws {
        let device = try await Device.make()
        let code = try await device.code()
        var fault: [String: Any] = ["kind": step == "createSession" ? "applyThenHang" : "hang", "times": 0]
        if step != "token" { fault["device"] = device.id }
        try await upstream.fail(step, fault)
        let begin = ContinuousClock.now
        let parameters = device.signInParameters(code, mvpd: "CoastCable")
        let page = try await device.cluster.send(Call("GET", "/api/v1/authenticate", query: parameters, headers: ["Accept": "text/html"]))
        #expect(begin.duration(to: .now) < .seconds(10), "\(step)")
        #expect(page.status == 503 && page.header("location") == nil && page.header("retry-after") != nil, "\(step): \(page.status)")
        #expect(
            page.header("content-type")?.hasPrefix("text/html") == true && page.text.firstMatch(of: /[0-9a-f]{32}/) != nil, "\(step): \(page.text)")
        #expect(try await device.checkAuthn() == 403)
        try await upstream.control("DELETE", "faults?operation=\(step)")
        try await signIn(device, code: code)
        #expect(try await device.checkAuthn(code: code) == 200)
    }

    @Test("bridge B44: with upstream away at the return it is 503 with a time to wait, for device and code, until the login is found")
    func remembersReturns() async throws {
        let upstream = try await upstream()
        let device = try await Device.make()
        let code = try await device.code()
        let begun = try await device.authenticate(code, mvpd: "CoastCable")
        let back = try await upstream.signIn(at: try #require(begun.header("location")))
        try await upstream.fail("profileByCode", ["kind": "reset", "times": 0])
        let end = try await device.cluster.exchange.send("GET", try #require(back.header("location")))
        #expect(end.status == 302 && end.header("location") == device.end, "\(end.status) \(end.text)")
        let byCode = Call("GET", "/api/v1/checkauthn/\(code)", query: ["requestor": device.requestor])
        let begin = ContinuousClock.now
        while begin.duration(to: .now) < .seconds(3) {
            for call in [byCode, device.call("/api/v1/checkauthn"), device.call("/api/v1/tokens/authn")] {
                let waiting = try await device.cluster.send(call)
                #expect(waiting.status == 503 && (waiting.header("retry-after").flatMap { Int($0) } ?? 0) >= 1, "\(call.path): \(waiting.status)")
            }
            try await Task.sleep(for: .milliseconds(300))
        }
        try await upstream.comeBack()
        try await Condition.wait("the login is found", within: .seconds(20)) { try await device.checkAuthn(code: code) == 200 }
        #expect(try await device.checkAuthn() == 200)
    }
}
