@testable import ClusterCommands
@testable import CommandKit
import Foundation
import Testing

/// Old apps in front, the stand-in v2 server behind (bridge §18).
@Suite("The bridge", .serialized, .bridge)
struct BridgeTests: BridgeSuite {
    @Test("bridge B26: upstream's list comes with ours, each once; it is kept when upstream is away")
    func listsProviders() async throws {
        let upstream = try await upstream()
        let cluster = try TestCluster.running()
        let list = try await BridgeTrait.list("ACME1", of: cluster)
        #expect(Set(["CoastCable", "HillTel", "TrialUp", "PromoUp", "NorthCable"]).isSubset(of: list) && Set(list).count == list.count)
        for _ in 0..<50 { _ = try await BridgeTrait.list("ACME1", of: cluster) }
        #expect(try await upstream.count("configuration") == 0, "it was read before")
        let record = try await cluster.exchange.send("GET", "\(cluster.gateway)/api/v1/config/ACME1.json")
        #expect(record.text.contains(#""isTempPass":true"#))
        try await upstream.goAway()
        #expect(try await BridgeTrait.list("ACME1", of: cluster) == list)
        try await upstream.comeBack()
    }

    @Test("bridge B11, B19, B31, B32, B33, B62, B64: one login and one play, and what of them reaches upstream")
    func playsOnce() async throws {
        let upstream = try await upstream()
        let device = try await Device.make()
        let code = try await device.code()
        #expect(try await device.record(code).status == 200)
        #expect(try await upstream.entries().isEmpty, "codes are ours")
        let begun = try await device.authenticate(code, mvpd: "CoastCable")
        let location = try #require(begun.header("location"))
        #expect(begun.status == 302 && location.contains("/api/v2/authenticate/ACME1/"))
        let back = try await upstream.signIn(at: location)
        let end = try await device.cluster.exchange.send("GET", try #require(back.header("location")))
        #expect(end.status == 302 && end.header("location") == device.end)
        #expect(try await device.checkAuthn() == 200)
        #expect(try await device.checkAuthn(code: code) == 200)
        let token = try await device.authnToken()
        #expect(token.status == 200 && token.object["mvpd"] as? String == "CoastCable" && token.object["requestor"] as? String == "ACME1")
        #expect(try await device.authorize("ACME1-NEWS").status == 200)
        let media = try await device.mediaToken("ACME1-NEWS")
        #expect(media.status == 200, "\(media.text)")
        #expect(try await upstream.count("authorize") == 1, "the media token waited")
        let again = try await device.mediaToken("ACME1-NEWS")
        #expect(again.status == 200 && again.object["serializedToken"] as? String != media.object["serializedToken"] as? String)
        #expect(try await upstream.count("authorize") == 2)
        #expect(try await device.authzToken("ACME1-NEWS").status == 200)
        let counts = try await upstream.counts()
        #expect(counts["register"] == 1 && counts["token"] == 1 && counts["createSession"] == 1 && counts["profileByCode"] == 1, "\(counts)")
        let identifier = "fingerprint " + Data(device.id.utf8).base64EncodedString()
        let calls = try await upstream.entries().filter { $0.path.hasPrefix("/api/v2/ACME1/") }
        #expect(!calls.isEmpty && calls.allSatisfy { $0.headers["ap-device-identifier"] == identifier })
    }

    @Test("bridge B36, B39: a cancelled login leaves the code good; two starts are one")
    func endsLogins() async throws {
        let upstream = try await upstream()
        let device = try await Device.make()
        let code = try await device.code()
        let first = try await device.authenticate(code, mvpd: "CoastCable").header("location")
        #expect(try await device.authenticate(code, mvpd: "CoastCable").header("location") == first)
        #expect(try await upstream.count("createSession") == 1)
        try await signIn(device, action: "cancel", code: code)
        #expect(try await device.checkAuthn(code: code) == 403)
        #expect(try await device.checkAuthn() == 403)
        try await signIn(device, at: "HillTel", code: code)
        #expect(try await device.checkAuthn(code: code) == 200)
        #expect(try await device.authenticate(code, mvpd: "HillTel").status == 400, "it is used")
    }

    @Test("bridge B41: a code that was deleted during the login signs nobody in, and upstream hears of it")
    func forgetsDeletedCodes() async throws {
        let upstream = try await upstream()
        let device = try await Device.make()
        let code = try await device.code()
        let begun = try await device.authenticate(code, mvpd: "CoastCable")
        let back = try await upstream.signIn(at: try #require(begun.header("location")))
        #expect(try await device.cluster.send(Call("DELETE", "/reggie/v1/ACME1/regcode/\(code)", headers: device.headers)).status == 204)
        let end = try await device.cluster.exchange.send("GET", try #require(back.header("location")))
        #expect(end.status == 302)
        #expect(try await device.checkAuthn() == 403)
        try await Condition.wait("upstream has ended the profile") { try await upstream.count("logout") == 1 }
    }

    @Test("bridge B75, B77: preauthorization goes in batches of five; too large a batch is halved")
    func preauthorizes() async throws {
        let upstream = try await upstream()
        let device = try await Device.make()
        try await signIn(device)
        let olga = try await Administrator.fresh()
        #expect(try await olga.change("/integrations/ACME1/CoastCable") { $0["preflightMaxResources"] = 50 }.status == 200)
        try await olga.push("More at once")
        let names = ["ACME1-NEWS"] + (1...11).map { "ACME1-NEWS-\($0)" }
        let known = (1...6).map { "ACME1-KNOWN-\($0)" }.joined(separator: ",")
        try await Condition.wait("authorization has it") { try await device.preauthorize(known).status == 200 }
        try await upstream.forgetCalls()
        let answer = try await device.preauthorize(names.joined(separator: ","))
        let items = answer.object["resources"] as? [[String: Any]] ?? []
        #expect(items.compactMap { $0["id"] as? String } == names, "\(answer.text)")
        #expect(try await upstream.count("preauthorize") == 3)
        #expect(try await upstream.mostInFlight("preauthorize") <= 2)
        #expect(try await device.preauthorize(names.joined(separator: ",")).text == answer.text)
        let open = items.filter { $0["authorized"] as? Bool != true }.count
        #expect(open < names.count, "\(answer.text)")
        #expect(try await upstream.count("preauthorize") == 3 + (open + 4) / 5, "a permit is told again for a minute")
        try await upstream.setIntegration("ACME1", "CoastCable", ["preauthorizeLimit": 3])
        func five(_ name: String) -> String { (1...5).map { "ACME1-\(name)-\($0)" }.joined(separator: ",") }
        #expect(try await device.preauthorize(five("HALVED")).status == 200)
        try await upstream.forgetCalls()
        #expect(try await device.preauthorize(five("SMALL")).status == 200)
        #expect(try await upstream.count("preauthorize") == 2, "the smaller size is remembered")
        try await upstream.setIntegration("ACME1", "CoastCable", ["preauthorizeLimit": 5])
    }

    @Test("bridge B79, B80: a logout ends the profile upstream, at once or when upstream is back")
    func logsOut() async throws {
        let upstream = try await upstream()
        let device = try await Device.make()
        try await signIn(device)
        #expect(try await device.logout() == 204)
        #expect(try await device.checkAuthn() == 403)
        #expect(try await upstream.count("logout") == 1)
        #expect(try await device.logout() == 204)
        try await signIn(device)
        try await upstream.goAway()
        #expect(try await device.logout() == 204)
        #expect(try await device.checkAuthn() == 403)
        try await upstream.comeBack()
        try await upstream.forgetCalls()
        try await Condition.wait("upstream has heard of it", within: .seconds(30)) { try await upstream.count("logout") >= 1 }
        #expect(try await device.checkAuthn() == 403)
    }

    @Test("bridge B13, B15, B53: a bearer that upstream refuses is renewed; a lost client or profile ends the one device's session")
    func heals() async throws {
        let upstream = try await upstream()
        let device = try await Device.make()
        let other = try await Device.make()
        try await signIn(device)
        try await signIn(other, as: "ben")
        try await upstream.fail("authorize", ["kind": "answer", "status": 401, "body": "{}", "times": 1])
        #expect(try await device.authorize("ACME1-NEWS").status == 200)
        try await upstream.removeProfiles([("person", "ada")])
        #expect(try await device.mediaToken("ACME1-NEWS").status == 200, "that one waited")
        #expect(try await device.mediaToken("ACME1-NEWS").status == 403)
        #expect(try await device.checkAuthn() == 403)
        #expect(try await other.checkAuthn() == 200)
        let clients = try JSONSerialization.jsonObject(with: Data(try await upstream.control("GET", "clients").body)) as? [[String: Any]] ?? []
        for client in clients { try await upstream.control("DELETE", "clients/\(try #require(client["id"] as? String))") }
        try await upstream.forgetCalls()
        #expect(try await other.authorize("ACME1-SPORT").status == 403)
        #expect(try await other.checkAuthn() == 403)
        try await signIn(other, as: "ben")
        #expect(try await other.authorize("ACME1-NEWS").status == 200)
    }

    @Test("bridge B94: an upstream that is away is 503 with a time, never a sign-out; what it permitted holds; direct MVPDs do not notice")
    func survivesOutages() async throws {
        let upstream = try await upstream()
        let (device, fresh, direct) = (try await Device.make(), try await Device.make(), try await Device.make())
        try await signIn(device)
        #expect(try await device.authorize("ACME1-NEWS").status == 200)
        let code = try await fresh.code()
        try await upstream.goAway()
        let begun = try await fresh.authenticate(code, mvpd: "CoastCable")
        #expect(begun.status == 503 && begun.header("retry-after") != nil, "\(begun.status)")
        let denied = try await device.authorize("ACME1-SPORT")
        #expect(denied.status == 503 && denied.header("retry-after") != nil, "\(denied.status)")
        #expect(try await device.checkAuthn() == 200)
        #expect(try await device.authnToken().status == 200)
        #expect(try await fresh.checkAuthn() == 403, "nobody can have signed in")
        try await direct.signIn()
        #expect(try await direct.authorize("ACME1-NEWS").status == 200)
        try await upstream.comeBack()
        try await Condition.wait("it is asked again", within: .seconds(30)) { try await device.authorize("ACME1-SPORT").status == 200 }
        try await Condition.wait("logins work again", within: .seconds(30)) { try await fresh.authenticate(code, mvpd: "CoastCable").status == 302 }
    }

    @Test("bridge B69: after a play tokens/authn has the id that verifiers see, and a new login of the person has it from the start")
    func learnsIDs() async throws {
        let device = try await Device.make()
        try await signIn(device)
        #expect(try await device.authorize("ACME1-NEWS").status == 200)
        let played = try await device.mediaToken("ACME1-NEWS").object["userId"] as? String
        #expect(played?.isEmpty == false)
        #expect(try await device.authnToken().object["userId"] as? String == played)
        let second = try await Device.make()
        try await signIn(second)
        #expect(try await second.authnToken().object["userId"] as? String == played)
    }

    @Test("bridge B82: a trial of upstream's is one of the app's: it plays, ends by upstream's clock, and knows no logout there")
    func letsInOnTrial() async throws {
        let upstream = try await upstream()
        let device = try await Device.make()
        func preview(_ mvpd: String) async throws -> Int {
            let fields = [("requestor_id", device.requestor), ("deviceId", device.id), ("mso_id", mvpd), ("domain_name", device.domain)]
            return try await device.cluster.send(.form("/api/v1/authenticate/freepreview", fields, headers: device.headers)).status
        }
        #expect(try await preview("TrialUp") == 204)
        #expect(try await device.checkAuthn() == 200)
        let permit = try await device.authorize("ACME1-NEWS")
        #expect(permit.status == 200, "\(permit.text)")
        let token = try await device.mediaToken("ACME1-NEWS")
        #expect(token.status == 200, "\(token.text)")
        #expect(try await preview("CoastCable") == 400)
        #expect(try await device.logout() == 204)
        #expect(try await upstream.count("logout") == 0)
        #expect(try await device.checkAuthn() == 403)
    }

    @Test("bridge B17: a restart of authentication forgets no client and no session")
    func outlivesRestarts() async throws {
        let upstream = try await upstream()
        let device = try await Device.make()
        try await signIn(device)
        let cluster = device.cluster
        let running = try cluster.process(.authentication)
        running.signal(SIGKILL)
        try await Condition.wait("authentication has stopped") { !running.isRunning }
        _ = try await cluster.starter.restart(.authentication)
        try await upstream.forgetCalls()
        try await Condition.wait("it is there again") { try await device.checkAuthn() == 200 }
        try await Condition.wait("it decides again") { try await device.authorize("ACME1-NEWS").status == 200 }
        #expect(try await upstream.count("register") == 0)
    }
}
