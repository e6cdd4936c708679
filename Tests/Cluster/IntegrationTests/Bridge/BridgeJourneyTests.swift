@testable import ClusterCommands
@testable import CommandKit
import Foundation
import Testing

extension BridgeTests {
    @Test("bridge B46: an app's own scheme never leaves the cluster; passive and used codes cost no call")
    func endsInApps() async throws {
        let upstream = try await upstream()
        let device = try await Device.make()
        let code = try await device.code()
        let begun = try await device.authenticate(code, mvpd: "CoastCable", changing: ["redirect_url": "adobepass://ios.app"])
        let back = try await upstream.signIn(at: try #require(begun.header("location"), "\(begun.status) \(begun.text)"))
        let end = try await device.cluster.exchange.send("GET", try #require(back.header("location")))
        #expect(end.header("location") == "adobepass://ios.app")
        #expect(try await upstream.entries().allSatisfy { !$0.body.contains("adobepass") && !$0.path.contains("adobepass") })
        try await upstream.forgetCalls()
        #expect(try await device.authenticate(code, mvpd: "CoastCable").status == 400, "it is used")
        let other = try await Device.make()
        let passive = try await other.authenticate(try await other.code(), mvpd: "CoastCable", changing: ["passive": "true"])
        #expect(passive.status == 302 && passive.header("location") == other.end, "\(passive.status)")
        #expect(try await upstream.count("createSession") == 0)
    }

    @Test("bridge B48: a login at another provider takes the place of the last, and upstream hears of it")
    func changesProviders() async throws {
        let upstream = try await upstream()
        let device = try await Device.make()
        try await signIn(device, at: "HillTel")
        try await signIn(device, at: "CoastCable")
        #expect(try await device.authnToken().object["mvpd"] as? String == "CoastCable")
        try await Condition.wait("upstream has ended the other profile") { try await upstream.count("logout") == 1 }
        #expect(try await upstream.entries("logout").allSatisfy { $0.path.contains("/HillTel") })
    }

    @Test("bridge B50, B51: the token is v1's; who never signed in costs upstream nothing, and no other requestor is signed in")
    func answersFromHere() async throws {
        let upstream = try await upstream()
        let device = try await Device.make()
        try await signIn(device)
        let token = try await device.authnToken()
        #expect(token.object["requestor"] as? String == "ACME1" && token.object["mvpd"] as? String == "CoastCable", "\(token.text)")
        #expect((token.object["userId"] as? String)?.isEmpty == false && (token.object["expires"] as? String).flatMap { Int64($0) } != nil)
        let xml = try await device.cluster.send(
            Call(
                "GET", "/api/v1/tokens/authn", query: ["requestor": device.requestor, "deviceId": device.id],
                headers: device.headers.merging(["Accept": "application/xml"]) { $1 }))
        #expect(xml.text.contains("<authentication>"), "\(xml.text)")
        #expect(try await Device.make("BRAVO", id: device.id).checkAuthn() == 403)
        try await upstream.forgetCalls()
        for _ in 0..<50 { #expect(try await Device.make().checkAuthn() == 403) }
        #expect(try await upstream.entries().isEmpty)
    }

    @Test("bridge B66: ten questions at once are one decision, three media tokens at once are three tokens")
    func sharesDecisions() async throws {
        let upstream = try await upstream()
        let device = try await Device.make()
        try await signIn(device)
        let statuses = try await atOnce(10) { try await device.authorize("ACME1-NEWS").status }
        #expect(statuses.allSatisfy { $0 == 200 }, "\(statuses)")
        #expect(try await upstream.count("authorize") == 1)
        let tokens = try await atOnce(3) { try await device.mediaToken("ACME1-NEWS").object["serializedToken"] as? String }
        #expect(Set(tokens.compactMap { $0 }).count == 3)
        #expect(try await upstream.count("authorize") == 3)
    }

    @Test("bridge B72, B73: a resource goes to upstream as it was sent; the sixth question in a row after five denials stays here")
    func refusesHere() async throws {
        let upstream = try await upstream()
        let device = try await Device.make()
        try await signIn(device)
        let item = "<rss version=\"2.0\" xmlns:media=\"http://search.yahoo.com/mrss/\"><channel><title>ACME1-NEWS</title></channel></rss>"
        #expect(try await device.authorize(item).status == 200)
        let asked = try #require(try await upstream.entries("authorize").first)
        let sent = try JSONSerialization.jsonObject(with: Data(asked.body.utf8)) as? [String: [String]]
        #expect(sent?["resources"] == [item])
        #expect(try await device.authorize("<rss><channel>").status == 400)
        #expect(try await upstream.count("authorize") == 1)
        try await upstream.setDecisions([
            [
                "serviceProvider": "ACME1", "mvpd": "CoastCable", "resource": "ACME1-SPORT", "code": "authorization_denied_by_mvpd", "times": 100,
            ]
        ])
        for _ in 0..<8 { #expect(try await device.authorize("ACME1-SPORT").status == 403) }
        try await upstream.setDecisions([])
        #expect(try await upstream.count("authorize") == 6)
    }

    @Test("bridge B85: upstream's degradation signs in and lets play")
    func followsDegradation() async throws {
        let upstream = try await upstream()
        let device = try await Device.make()
        let rule = ["serviceProvider": "ACME1", "mvpd": "HillTel"]
        try await upstream.setRules([rule.merging(["kind": "AuthNAll"]) { $1 }])
        let code = try await device.code()
        let begun = try await device.authenticate(code, mvpd: "HillTel")
        #expect(begun.status == 302 && begun.header("location") == device.end, "\(begun.status) \(begun.header("location") ?? "")")
        #expect(try await device.checkAuthn() == 200)
        #expect(try await device.authorize("ACME1-NEWS").status == 200)
        try await upstream.setRules([])
    }

    @Test("bridge B47: the second screen offers upstream's providers; where the login ends at the channel's page alone, it says so")
    func activates() async throws {
        let upstream = try await upstream()
        let device = try await Device.make()
        let code = try await device.code()
        let gateway = device.cluster.gateway
        var browser = Browser(exchange: device.cluster.exchange)
        let list = try await browser.visit("\(gateway)/activate/providers?code=\(code)")
        #expect(list.text.contains("mvpd=CoastCable") && list.text.contains("mvpd=NorthCable") && !list.text.contains("mvpd=TrialUp"), "\(list.text)")
        let address = "\(gateway)/activate/sign-in?code=\(code)&mvpd=CoastCable"
        let begun = try await browser.submit(try browser.form(try await browser.visit(address), at: address))
        let back = try await upstream.signIn(at: try #require(begun.header("location"), "\(begun.status) \(begun.text)"))
        let end = try await browser.visit(try #require(back.header("location")))
        let done = try #require(end.header("location"))
        #expect(end.status == 302 && done.hasPrefix("\(gateway)/activate/done"), "\(done)")
        #expect(try await browser.visit(done).status == 200)
        #expect(try await device.checkAuthn() == 200)
        let other = try await Device.make("BRAVO")
        let elsewhere = try await browser.visit("\(gateway)/activate/sign-in?code=\(try await other.code())&mvpd=CoastCable")
        #expect(elsewhere.status == 400 && elsewhere.text.contains("only on the channel’s own page"), "\(elsewhere.text)")
    }
}
