@testable import ClusterCommands
@testable import CommandKit
import Foundation
import Testing

/// The operators' questions to upstreams, by the command line (bridge §15.3).
extension BridgeTests {
    private func boxoffice(_ arguments: String...) throws -> Program {
        let cluster = try TestCluster.running()
        let program = cluster.starter.binaries.appendingPathComponent("boxoffice").path
        return try .run("/usr/bin/env", ["BOXOFFICE_HOME=\(cluster.home.root.path)", program, "upstream"] + arguments)
    }

    private func object(_ end: Program) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(end.output.utf8)) as? [String: Any], "\(end.output)")
    }

    private func steps(_ end: Program) throws -> [(step: Int, outcome: String, text: String)] {
        (try object(end)["steps"] as? [[String: Any]] ?? []).map { ($0["step"] as? Int ?? 0, $0["outcome"] as? String ?? "", "\($0)") }
    }

    @Test("bridge B104: a check of the stand-in passes each step, tells no secret and leaves no profile; a second one registers nothing")
    func checksUpstream() async throws {
        let upstream = try await upstream()
        let end = try boxoffice("check", "vendor", "--requestor", "ACME1", "--throttle", "--json")
        #expect(end.status == 0, "\(end.output)")
        let walked = try steps(end)
        #expect(walked.map(\.step) == Array(1...11), "\(end.output)")
        #expect(walked.allSatisfy { $0.outcome == "passed" }, "\(end.output)")
        let entries = try await upstream.entries()
        var secrets = Set(entries.compactMap { $0.headers["authorization"]?.replacing("Bearer ", with: "") })
        secrets.insert(try await upstream.statement())
        for entry in entries where entry.operation == "token" {
            secrets.formUnion(entry.body.split(separator: "&").filter { $0.hasPrefix("client_secret=") }.map { String($0.dropFirst(14)) })
        }
        #expect(secrets.count >= 3)
        for secret in secrets { #expect(!end.output.contains(secret)) }
        #expect(try await upstream.control("GET", "profiles").text.contains("boxoffice-check") == false)
        try await upstream.forgetCalls()
        let again = try boxoffice("check", "vendor")
        #expect(again.status == 0 && again.output.contains("the client of an earlier check"), "\(again.output)")
        #expect(try await upstream.count("register") == 0)
    }

    @Test("bridge B104, B16: a wrong statement fails at its step, and the next good one is tried at once; an upstream that is off is 4")
    func findsFaults() async throws {
        let upstream = try await upstream()
        let good = try await upstream.statement()
        #expect(try await Administrator.fresh().send("POST", "/secrets/acme-wrong", ["secret": good + "x"]).status == 200)
        try await useStatement("acme-wrong")
        var wrong = try boxoffice("check", "vendor", "--json")
        try await Condition.wait("authentication has it") {
            wrong = try boxoffice("check", "vendor", "--json")
            return wrong.status == 1
        }
        let walked = try steps(wrong)
        #expect(walked.map(\.outcome) == ["passed", "failed", "notReached", "notReached"], "\(wrong.output)")
        #expect(wrong.output.contains("software_statement") && !wrong.output.contains(good), "\(wrong.output)")
        try await useStatement("acme-v2")
        try await Condition.wait("the good one is tried at once") { try boxoffice("check", "vendor").status == 0 }
        try await upstream.goAway()
        let away = try boxoffice("check", "vendor", "--json")
        #expect(away.status == 4, "\(away.output)")
        #expect(try steps(away).map(\.outcome) == ["failed", "notReached", "notReached", "notReached"])
        try await upstream.comeBack()
        #expect(try boxoffice("check", "nobody").status == 1)
        #expect(try boxoffice("check", "vendor", "--certificate", "x").status == 2)
    }

    @Test("bridge B104: one budget for all devices is found, and who has no place in an allow-list is told so")
    func findsThrottles() async throws {
        let upstream = try await upstream()
        try await upstream.behave(["throttle": ["isOn": true, "perSecond": 1, "burst": 10, "by": "peer"]])
        let end = try boxoffice("check", "vendor", "--throttle", "--json")
        try await upstream.behave(["throttle": ["isOn": false, "perSecond": 1, "burst": 10, "by": "forwarded"]])
        #expect(end.status == 1, "\(end.output)")
        let failed = try steps(end).filter { $0.outcome == "failed" }
        #expect(failed.map(\.step) == [11] && failed.first?.text.contains("one budget") == true, "\(end.output)")
    }

    @Test("bridge B104: with a person, the check signs in, plays and signs out")
    func checksSignIns() async throws {
        let upstream = try await upstream()
        let certificate = try TestCluster.running().home.pki.appendingPathComponent("sandbox-upstream.crt")
        let olga = try await Administrator.fresh()
        func check(_ body: [String: Any]) async throws -> [String: Any] {
            let answer = try await olga.send("POST", "/upstreams/vendor/check", body.merging(["requestor": "ACME1"]) { $1 })
            try #require(answer.status == 200, "\(answer.text)")
            return answer.object
        }
        let begun = try await check(["part": "signIn"])
        let ticket = try #require(begun["ticket"] as? String)
        let question: [String: Any] = [
            "part": "signedIn", "ticket": ticket, "resource": "ACME1-NEWS", "certificate": try String(contentsOf: certificate, encoding: .utf8),
        ]
        #expect(try await check(question)["open"] as? Bool == true, "nobody has signed in")
        _ = try await upstream.signIn(at: try #require(begun["browserAddress"] as? String))
        let ended = try await check(question)
        let steps = ended["steps"] as? [[String: Any]] ?? []
        #expect(steps.count == 5 && steps.allSatisfy { $0["outcome"] as? String == "passed" }, "\(ended)")
        #expect("\(steps)".contains("the signature is good") && "\(steps)".contains("userID"))
        #expect(try await upstream.count("logout") == 1)
        let foreign = try await olga.send("POST", "/upstreams/vendor/check", ["part": "signedIn", "ticket": "AAAA", "requestor": "ACME1"])
        #expect(foreign.status == 400, "\(foreign.text)")
    }

    @Test("bridge B105: what upstream offers goes into the draft, and then there is no difference")
    func importsOffers() async throws {
        _ = try await upstream()
        let olga = try await Administrator.fresh()
        for path in ["/integrations/ACME1/HillTel", "/integrations/BRAVO/HillTel"] {
            let removed = try await olga.send("DELETE", path, ifMatch: "*")
            #expect(removed.status == 204 || removed.status == 200, "\(removed.text)")
        }
        let gone = try await olga.send("DELETE", "/mvpds/HillTel", ifMatch: "*")
        #expect(gone.status == 204 || gone.status == 200, "\(gone.text)")
        try await olga.push("Without Hill Tel")
        let shown = try boxoffice("import", "vendor", "--requestor", "ACME1", "--platform", "roku", "--json")
        #expect(shown.status == 0, "\(shown.output)")
        let differences = try object(shown)["differences"] as? [[String: String]] ?? []
        #expect(differences.contains { $0["mvpd"] == "HillTel" }, "\(shown.output)")
        #expect(try boxoffice("import", "vendor", "--requestor", "ACME1", "--draft").status == 0)
        _ = try await olga.send("POST", "/integrations", ["requestor": "BRAVO", "mvpd": "HillTel", "upstream": true])
        try await olga.push("What upstream offers")
        let cluster = try TestCluster.running()
        try await Condition.wait("it is offered") { try await BridgeTrait.list("ACME1", of: cluster).contains("HillTel") }
        let second = try boxoffice("import", "vendor", "--requestor", "ACME1")
        #expect(second.status == 0 && second.output.contains("no difference"), "\(second.output)")
        #expect(try boxoffice("import", "vendor", "--requestor", "ACME1", "--platform", "tv").status == 2)
    }

    @Test("bridge §14.1, B103: status tells clients and alarms, also of a clock that is five minutes ahead; a session ends when upstream's does")
    func tellsStatus() async throws {
        let upstream = try await upstream()
        let device = try await Device.make()
        try await upstream.control("POST", "clock", ["offsetSeconds": 300])
        try await signIn(device)
        let end = Double(try #require((try await device.authnToken().object["expires"] as? String).flatMap { Double($0) })) / 1000
        let status = try boxoffice("status", "vendor", "--json")
        #expect(status.status == 0, "\(status.output)")
        let state = try #require((try object(status)["upstreams"] as? [[String: Any]])?.first?["state"] as? [String: Any], "\(status.output)")
        #expect((state["deviceClients"] as? Int ?? 0) > 0 && (state["clockOffsetMs"] as? Int ?? 0) > 290_000, "\(state)")
        let alarms = state["alarms"] as? [[String: Any]] ?? []
        #expect(alarms.contains { $0["event"] as? String == "bridge.clock_skew" }, "\(alarms)")
        try await upstream.control("POST", "clock", ["offsetSeconds": 0])
        let profiles = try await upstream.control("GET", "profiles").text
        let ends = profiles.matches(of: /"notAfter":"?(\d+)/).compactMap { Double($0.1) }.map { $0 / 1000 }
        #expect(ends.contains { abs($0 - 300 - end) < 5 }, "\(end) is none of \(ends), less five minutes")
        #expect(try boxoffice("status").output.contains("bridge.clock_skew"))
    }

    @Test("bridge §15.3: a reset ends the device's client and its session, and the next login registers another")
    func resetsClients() async throws {
        let upstream = try await upstream()
        let device = try await Device.make()
        try await signIn(device)
        let end = try boxoffice("reset", "vendor", "--device", device.id)
        #expect(end.status == 0 && end.output.contains("1 session ended"), "\(end.output)")
        #expect(try await device.checkAuthn() == 403)
        #expect(try boxoffice("reset", "vendor", "--device", device.id).status == 1)
        try await upstream.forgetCalls()
        try await signIn(device)
        #expect(try await upstream.count("register") == 1)
    }

    @Test("bridge B103: a request with our own name on its way is answered 508, and is an alarm")
    func stopsLoops() async throws {
        let cluster = try TestCluster.running()
        let upstream = try await upstream()
        let olga = try await Administrator.fresh()
        #expect(try await olga.change("/upstreams/vendor") { $0["kind"] = "boxoffice" }.status == 200)
        try await olga.push("A cluster upstream")
        var via: String?
        try await Condition.wait("upstream hears who calls") {
            _ = try await Device.make().authenticate(try await Device.make().code(), mvpd: "CoastCable")
            via = try await upstream.entries().compactMap { $0.headers["via"] }.last
            return via != nil
        }
        let name = try #require(via)
        #expect(name.hasPrefix("1.1 boxoffice-"))
        let looped = try await cluster.exchange.send("GET", "\(cluster.gateway)/api/v2/ACME1/configuration", headers: [("Via", name)])
        #expect(looped.status == 508, "\(looped.status)")
        #expect(try await olga.change("/upstreams/vendor") { $0["kind"] = nil }.status == 200)
        try await olga.push("A vendor upstream")
    }

    @Test("bridge B107: a sign-in through upstream is explained step by step, with upstream's trace of the step that failed")
    func explainsSignIns() async throws {
        let cluster = try TestCluster.running()
        let upstream = try await upstream()
        let program = cluster.starter.binaries.appendingPathComponent("boxoffice").path
        func explain(_ trace: String) throws -> Program {
            try .run("/usr/bin/env", ["BOXOFFICE_HOME=\(cluster.home.root.path)", program, "explain", trace, "--json"])
        }
        let device = try await Device.make()
        try await upstream.fail("createSession", ["kind": "error", "code": "invalid_parameter_redirect_url", "times": 1])
        func trace(_ answer: HTTPAnswer) throws -> String { try #require(answer.header("adobe-request-id")).replacing("-", with: "") }
        let failed = try await device.authenticate(try await device.code(), mvpd: "CoastCable")
        #expect(failed.status == 400, "\(failed.text)")
        let told = try explain(try trace(failed))
        #expect(told.status == 1, "\(told.output)")
        let checks = try object(told)["checks"] as? [[String: Any]] ?? []
        let step = try #require(checks.first { $0["outcome"] as? String == "failed" }, "\(told.output)")
        #expect(step["step"] as? Int == 5 && step["reason"] as? String == "invalid_parameter_redirect_url", "\(step)")
        #expect((step["explanation"] as? String)?.contains("trace ") == true, "\(step)")
        #expect(checks.filter { ($0["step"] as? Int ?? 0) > 5 }.allSatisfy { $0["outcome"] as? String == "notReached" })
        let begun = try await device.authenticate(try await device.code(), mvpd: "CoastCable")
        let good = try trace(begun)
        let open = try explain(good)
        #expect(open.output.contains("unfinished"), "\(open.output)")
        let back = try await upstream.signIn(at: try #require(begun.header("location")))
        let returned = try await cluster.exchange.send("GET", try #require(back.header("location")))
        for known in [good, try trace(returned)] {
            let ended = try explain(known)
            #expect(ended.status == 0 && ended.output.contains("userID"), "\(ended.output)")
        }
        let ended = try explain(good)
        #expect(!ended.output.contains(device.id))
    }
}
