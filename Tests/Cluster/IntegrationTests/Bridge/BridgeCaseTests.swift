@testable import ClusterCommands
@testable import CommandKit
import Clocks
import Foundation
import Testing

extension BridgeTests {
    @Test("bridge B40, B49: a profile that is there signs in without a login; one that shows late is found by a third look")
    func findsProfiles() async throws {
        let upstream = try await upstream()
        let device = try await Device.make()
        try await signIn(device)
        let kept = try await upstream.removeProfiles([("device", device.id)])
        try await upstream.putBack(kept)
        #expect(try await device.logout() == 204)
        #expect(try await device.checkAuthn() == 403)
        try await upstream.putBack(kept)
        let code = try await device.code()
        let back = try await device.authenticate(code, mvpd: "CoastCable")
        #expect(back.status == 302 && back.header("location") == device.end, "\(back.status) \(back.header("location") ?? "")")
        #expect(try await device.checkAuthn() == 200)
        #expect(try await device.checkAuthn(code: code) == 200)
        try await upstream.behave(["visibilityMilliseconds": 700])
        try await upstream.forgetCalls()
        let late = try await Device.make()
        try await signIn(late)
        try await upstream.behave(["visibilityMilliseconds": 0])
        #expect(try await late.checkAuthn() == 200)
        #expect((2...3).contains(try await upstream.count("profileByCode")))
    }

    @Test("bridge B52: past upstream's end the token is 410, after a logout it is 404")
    func tellsEnds() async throws {
        let upstream = try await upstream()
        let (device, other) = (try await Device.make(), try await Device.make())
        try await upstream.setIntegration("ACME1", "HillTel", ["authnSeconds": 2])
        try await signIn(device, at: "HillTel")
        try await upstream.setIntegration("ACME1", "HillTel", ["authnSeconds": 86_400])
        try await signIn(other, at: "HillTel")
        try await Condition.wait("the profile is over", within: .seconds(5)) { try await device.checkAuthn() == 403 }
        #expect(try await device.authnToken().status == 410)
        #expect(try await other.logout() == 204)
        #expect(try await other.authnToken().status == 404)
    }

    @Test("bridge B68, B70, B71: a permit without times ends with its token; the token is upstream's, and names the MVPD in between")
    func passesTokens() async throws {
        let upstream = try await upstream()
        let device = try await Device.make()
        try await signIn(device, at: "HillTel")
        try await upstream.control("PUT", "mvpds/HillTel", ["proxyMvpd": "ProxyNet"])
        let permit = try await device.authorize("ACME1-NEWS")
        let media = try await device.mediaToken("ACME1-NEWS")
        try await upstream.control("PUT", "mvpds/HillTel", ["proxyMvpd": NSNull()])
        #expect(permit.object["proxyMvpd"] as? String == "ProxyNet", "\(permit.text)")
        #expect(try await device.authzToken("ACME1-NEWS").object["proxyMvpd"] as? String == "ProxyNet")
        let token = try #require(media.object["serializedToken"] as? String)
        let cluster = device.cluster
        func verify(_ certificate: String) throws -> String {
            let pki = cluster.home.pki.appendingPathComponent(certificate).path
            let program = try Program.run(
                cluster.starter.binaries.appendingPathComponent("boxoffice").path,
                ["verify", "--requestor", "ACME1", "--resource", "ACME1-NEWS", "--certificate", pki, token])
            return program.output
        }
        #expect(try verify("sandbox-upstream.crt").contains("VALID_TOKEN"))
        #expect(try verify("media-token.crt").contains("INVALID_SIGNATURE"))
        try await upstream.setRules([["kind": "AuthZAll", "serviceProvider": "ACME1", "mvpd": "HillTel"]])
        let open = try await device.authorize("ACME1-SPORT")
        let shown = try await device.mediaToken("ACME1-SPORT")
        try await upstream.setRules([])
        #expect(open.status == 200 && shown.status == 200, "\(open.text) \(shown.text)")
        #expect(open.object["expires"] as? String == shown.object["expires"] as? String)
        let moment = (SystemClock().now() + .seconds(300)).milliseconds
        let body = #"{"decisions":[{"resource":"ACME1-MOVIES","authorized":true,"token":{"notAfter":\#(moment),"serializedToken":"garbage"}}]}"#
        try await upstream.fail("authorize", ["kind": "answer", "status": 200, "body": body, "times": 1])
        #expect(try await device.authorize("ACME1-MOVIES").status == 200)
        let strange = try await device.mediaToken("ACME1-MOVIES")
        #expect(strange.object["serializedToken"] as? String == "garbage")
        #expect(strange.object["userId"] as? String == (try await device.authnToken().object["userId"] as? String))
    }

    @Test("bridge B81: a browser's logout visits upstream's page and ends where the app said; without a channel each session is told")
    func visitsLogouts() async throws {
        let upstream = try await upstream()
        let device = try await Device.make()
        try await signIn(device)
        let exchange = device.cluster.exchange
        let begun = try await device.cluster.send(device.call("/api/v1/logout", ["redirect_url": device.end]))
        let page = try #require(begun.header("location"), "\(begun.status) \(begun.text)")
        #expect(page.hasPrefix("\(upstream.address)/mvpd/CoastCable/logout"), "\(page)")
        #expect(try await device.checkAuthn() == 403)
        let back = try #require(try await exchange.send("GET", page).header("location"))
        #expect(back.hasPrefix("\(device.cluster.gateway)/bridge/signed-out/"), "\(back)")
        let end = try await exchange.send("GET", back)
        #expect(end.status == 302 && end.header("location") == device.end, "\(end.status) \(end.text)")
        #expect(try await exchange.send("GET", "\(device.cluster.gateway)/bridge/signed-out/unknown").status == 200)
        // Where upstream gives no page, nobody is sent there.
        try await signIn(device)
        try await upstream.fail("logout", ["kind": "error", "code": "invalid_integration", "times": 1])
        let lone = try await device.cluster.send(device.call("/api/v1/logout", ["redirect_url": device.end]))
        #expect(lone.status == 302 && lone.header("location") == device.end, "\(lone.status)")
        try await upstream.removeProfiles([("device", device.id)])
        // Every channel of the application: one of them is served by an upstream.
        try await signIn(device)
        try await device.at("ACME2").signIn()
        try await upstream.forgetCalls()
        var everywhere = device.call("/api/v1/logout", method: "DELETE")
        everywhere.query["requestor"] = nil
        #expect(try await device.cluster.send(everywhere).status == 204)
        #expect(try await upstream.count("logout") == 1)
        #expect(try await device.checkAuthn() == 403)
        #expect(try await device.at("ACME2").checkAuthn() == 403)
    }

    @Test("bridge B82: upstream's clock ends a trial")
    func endsTrials() async throws {
        let upstream = try await upstream()
        let device = try await Device.make()
        #expect(try await preview(device, "TrialUp").status == 204)
        #expect(try await device.authorize("ACME1-NEWS").status == 200)
        try await upstream.control("POST", "clock", ["offsetSeconds": 601])
        let over = try await device.authorize("ACME1-SPORT")
        let (session, again) = (try await device.checkAuthn(), try await preview(device, "TrialUp"))
        let token = try await device.authnToken().status
        try await upstream.control("POST", "clock", ["offsetSeconds": 0])
        #expect(over.status == 403 && session == 403 && again.status == 400 && token == 410, "\(over.text) \(session) \(again.text) \(token)")
    }

    private func preview(_ device: Device, _ mvpd: String, _ fields: [(String, String)] = []) async throws -> HTTPAnswer {
        let all = [("requestor_id", device.requestor), ("deviceId", device.id), ("mso_id", mvpd), ("domain_name", device.domain)] + fields
        return try await device.cluster.send(.form("/api/v1/authenticate/freepreview", all, headers: device.headers))
    }

    @Test("bridge B83: a promotional trial knows people by digests; its resources are counted, and who plays again says so")
    func promotes() async throws {
        let upstream = try await upstream()
        let device = try await Device.make()
        let address = "ada-\(UUID().uuidString.prefix(8).lowercased())@acme.example"
        let person = #"{"email":"\#(address)"}"#
        #expect(try await preview(device, "PromoUp").status == 400)
        #expect(try await preview(device, "PromoUp", [("generic_data", "(\(person))")]).status == 204)
        func play(_ resource: String, _ data: String? = person) async throws -> Int {
            try await device.get("/api/v1/authorize", ["resource": resource].merging(data.map { ["generic_data": $0] } ?? [:]) { $1 }).status
        }
        #expect(try await play("ACME1-NEWS", nil) == 400)
        #expect(try await play("ACME1-NEWS") == 200)
        #expect(try await device.mediaToken("ACME1-NEWS").status == 200)
        #expect(try await device.mediaToken("ACME1-NEWS").status == 200, "the session knows who it is")
        #expect(try await play("ACME1-SPORT") == 200)
        #expect(try await play("ACME1-MOVIES") == 403)
        #expect(try await play("ACME1-NEWS") == 200, "it was played before")
        let sent = try await upstream.entries().compactMap { $0.headers["ap-temppass-identity"] }
        let texts = Set(sent.compactMap { Data(base64Encoded: $0) }.map { String(decoding: $0, as: UTF8.self) })
        #expect(
            texts.count == 1 && texts.first?.contains("@") == false && texts.first?.wholeMatch(of: /\{"email":"[0-9a-f]{64}"\}/) != nil, "\(texts)")
        let code = try await device.code()
        #expect(try await device.authenticate(code, mvpd: "PromoUp").status == 400)
        let home = device.cluster.home
        for place in [home.data, home.logs] {
            for case let file as URL in FileManager.default.enumerator(at: place, includingPropertiesForKeys: nil) ?? .init() {
                guard let content = try? Data(contentsOf: file) else { continue }
                #expect(content.range(of: Data(address.utf8)) == nil, "\(file.lastPathComponent)")
            }
        }
    }

    @Test("bridge B47: where no list can be had a trial that is chosen begins, or the page says to choose another provider")
    func activatesTrials() async throws {
        let upstream = try await upstream()
        var device = try await Device.make()
        // Upstream's list is one for each platform: this one was not asked for before.
        device.information = Device.encoded(#"{"primaryHardwareType":"MobilePhone","model":"Pixel 8","osName":"Android"}"#)
        try await upstream.fail("configuration", ["kind": "reset", "times": 0])
        let gateway = device.cluster.gateway
        let list = try await device.cluster.exchange.send("GET", "\(gateway)/activate/providers?code=\(try await device.code())")
        #expect(list.status == 200 && list.text.contains("mvpd=NorthCable") && list.text.contains("Some providers cannot be shown"), "\(list.text)")
        for id in BridgeTrait.mvpds.keys { #expect(!list.text.contains("mvpd=\(id)"), "\(id): nobody knows whether it is a trial") }
        func choose(_ mvpd: String) async throws -> HTTPAnswer {
            var browser = Browser(exchange: device.cluster.exchange)
            let address = "\(gateway)/activate/sign-in?code=\(try await device.code())&mvpd=\(mvpd)"
            return try await browser.submit(try browser.form(try await browser.visit(address), at: address))
        }
        let promotion = try await choose("PromoUp")
        #expect(promotion.status == 400 && promotion.text.contains("/activate/providers?code="), "\(promotion.status) \(promotion.text)")
        let trial = try await choose("TrialUp")
        try await upstream.comeBack()
        #expect(trial.status == 302 && trial.header("location")?.hasPrefix("\(gateway)/activate/done") == true, "\(trial.status)")
        #expect(try await device.checkAuthn() == 200)
    }

    @Test("bridge B84: a reset of a trial goes to the management host; without one it is 400")
    func resetsTrials() async throws {
        let upstream = try await upstream()
        let device = try await Device.make()
        let owner = try await Client.register("acme-ops").accessToken()
        func reset() async throws -> HTTPAnswer {
            let query = ["requestor_id": "ACME1", "mvpd_id": "TrialUp", "device_id": device.id]
            return try await device.cluster.send(
                Call("DELETE", "/reset-tempass/v3/reset", query: query, headers: ["Authorization": "Bearer \(owner)"]))
        }
        #expect(try await reset().status == 400)
        let olga = try await Administrator.fresh()
        let statement = try await upstream.statement("acme-v2-management")
        #expect((200...201).contains(try await olga.send("POST", "/secrets/acme-v2-management", ["secret": statement]).status))
        let changed = try await olga.change("/upstreams/vendor") { record in
            let client: [String: Any] = [
                "id": "resets", "statementReference": "acme-v2-management", "requestors": "all", "platforms": "all",
                "scope": "temporary:passes:owner",
            ]
            record["clients"] = (record["clients"] as? [[String: Any]] ?? []) + [client]
            record["management"] = ["baseUrl": upstream.address, "client": "resets"]
        }
        #expect(changed.status == 200, "\(changed.text)")
        try await olga.push("Resets")
        #expect(try await preview(device, "TrialUp").status == 204)
        #expect(try await device.authorize("ACME1-NEWS").status == 200)
        try await Condition.wait("authentication has it") { try await reset().status == 204 }
        #expect(try await upstream.count("resetTempPass") == 1)
        #expect(try await device.checkAuthn() == 403)
        let trials = try await upstream.control("GET", "trials").text
        #expect(!trials.contains(device.id), "\(trials)")
        #expect(try await preview(device, "TrialUp").status == 204)
    }
}
