@testable import ClusterCommands
@testable import CommandKit
import Foundation
import Testing

/// Cases of the bridge that last from seconds to hours: the time of day of all programs, upstream's too, is the test's (bridge §18).
@Suite("The bridge over time", .serialized, .bridgeWithMovableClock)
struct BridgeClockTests: BridgeSuite {
    /// Lets time go by for all programs.
    func pass(_ span: Duration) throws { try #require(TestCluster.running().clock).pass(span) }

    /// A device at which a person has been signed in for longer than a decision may lag behind the login (bridge §9.3).
    func settled(_ requestor: String = "ACME1", at mvpd: String = "HillTel") async throws -> Device {
        let device = try await Device.make(requestor)
        if requestor == "ACME1" { try await signIn(device, at: mvpd) } else { try await signInByLooking(device, at: mvpd) }
        try pass(.seconds(11))
        return device
    }

    func script(_ code: String, _ resource: String, details: String? = nil, times: Int = 1) -> [String: Any] {
        var decision: [String: Any] = ["resource": resource, "code": code, "times": times]
        decision["details"] = details
        return decision
    }

    @Test("bridge B34: a thousand polls during a login call nobody, 404 before it and 200 after; a code that was made nine hours ago is good")
    func waitsForLogins() async throws {
        let upstream = try await upstream()
        let (cluster, client) = (try TestCluster.running(), try await Client.register("acme-tv"))
        let maker = Device(cluster: cluster, requestor: "ACME1", id: UUID().uuidString, accessToken: try await client.accessToken())
        let code = try await maker.code([("ttl", "36000")])
        try pass(.seconds(9 * 3600))
        let device = Device(cluster: cluster, requestor: "ACME1", id: maker.id, accessToken: try await client.accessToken())
        let begun = try await device.authenticate(code, mvpd: "CoastCable")
        let login = try #require(begun.header("location"), "\(begun.status) \(begun.text)")
        try await upstream.forgetCalls()
        let statuses = try await atOnce(8) { () async throws -> [Int] in
            var statuses: [Int] = []
            for _ in 0..<125 { statuses.append(try await device.authnToken().status) }
            return statuses
        }.flatMap { $0 }
        #expect(statuses.count == 1000 && statuses.allSatisfy { $0 == 404 }, "\(Set(statuses))")
        #expect(try await upstream.entries().isEmpty)
        let back = try await upstream.signIn(at: login)
        let end = try await device.cluster.exchange.send("GET", try #require(back.header("location")))
        #expect(end.status == 302 && end.header("location") == device.end, "\(end.status) \(end.text)")
        #expect(try await device.authnToken().status == 200)
        #expect(try await device.checkAuthn(code: code) == 200)
        let counts = try await upstream.counts()
        #expect(counts["profileByCode"] == 1 && counts["profile"] == nil && counts["createSession"] == nil, "\(counts)")
    }

    @Test("bridge B37: without a page of our own a login is found by looking, at the poll's pace, beside an expired session too")
    func looksForLogins() async throws {
        let upstream = try await upstream()
        let (device, page, former) = (try await Device.make("BRAVO"), try await Device.make("BRAVO"), try await Device.make("BRAVO"))
        try await upstream.setIntegration("BRAVOUP", "HillTel", ["authnSeconds": 30])
        try await signInByLooking(former)
        try await upstream.setIntegration("BRAVOUP", "HillTel", ["authnSeconds": 86_400])
        try pass(.seconds(31))
        #expect(try await former.authnToken().status == 410)
        for _ in 0..<10 { #expect(try await device.checkAuthn() == 403) }
        try await upstream.forgetCalls()
        let code = try await device.code()
        let begun = try await device.authenticate(code, mvpd: "HillTel")
        for _ in 0..<60 {
            try pass(.seconds(1))
            #expect(try await device.checkAuthn() == 403)
        }
        let looks = try await upstream.count("profileByCode")
        #expect((10...15).contains(looks), "\(looks)")
        let back = try await upstream.signIn(at: try #require(begun.header("location")))
        #expect(back.header("location") == device.end)
        try pass(.seconds(6))
        #expect(try await device.checkAuthn() == 200)
        let token = try await device.authnToken()
        #expect(token.object["requestor"] as? String == "BRAVO" && token.object["mvpd"] as? String == "HillTel", "\(token.text)")
        let asked = try await page.code()
        let other = try await page.authenticate(asked, mvpd: "HillTel")
        #expect(try await page.checkAuthn() == 403)
        _ = try await upstream.signIn(at: try #require(other.header("location")), as: "ben")
        #expect(try await page.checkAuthn(code: asked) == 200, "the page asks once, right after")
        let again = try await former.authenticate(try await former.code(), mvpd: "HillTel")
        #expect(try await former.authnToken().status == 410)
        _ = try await upstream.signIn(at: try #require(again.header("location")), as: "ben")
        try pass(.seconds(6))
        #expect(try await former.authnToken().status == 200)
    }

    @Test("bridge B38: a login in the last seconds of upstream's session is found by the last look")
    func looksOnceMore() async throws {
        let upstream = try await upstream()
        let device = try await Device.make("BRAVO")
        let begun = try await device.authenticate(try await device.code(), mvpd: "HillTel")
        try pass(.seconds(1795))
        _ = try await upstream.signIn(at: try #require(begun.header("location")))
        try pass(.seconds(6))
        try await upstream.forgetCalls()
        #expect(try await device.checkAuthn() == 200)
        #expect(try await upstream.counts() == ["profile": 1], "by device and provider: upstream's code is over")
    }

    @Test("bridge B58: what a decision changes of the person is told from then on, with the second of the change")
    func tellsChanges() async throws {
        let upstream = try await upstream()
        let device = try await settled(at: "CoastCable")
        let before = try await device.metadata()
        let stored = try await upstream.removeProfiles([("device", device.id)])
        let profiles = try #require(try JSONSerialization.jsonObject(with: Data(stored.utf8)) as? [[String: Any]])
        let attributes = try #require(profiles.first?["attributes"] as? [String: Any])
        let changes: [String: Any] = [
            "zip": ["value": "Y2hhbmdlZA==", "state": "enc"], "maxRating": ["value": ["MPAA": "PG"], "state": "plain"],
        ]
        let changed = profiles.map { $0.merging(["afterDecision": attributes.merging(changes) { $1 }]) { $1 } }
        try await upstream.putBack(String(decoding: try JSONSerialization.data(withJSONObject: changed), as: UTF8.self))
        #expect(try await device.metadata().text == before.text, "nothing has changed yet")
        try pass(.seconds(5))
        #expect(try await device.authorize("ACME1-NEWS").status == 200)
        let later = try await device.metadata()
        #expect(later.data?["zip"] as? String == "Y2hhbmdlZA==" && later.data?["maxRating"] as? [String: String] == ["MPAA": "PG"], "\(later.text)")
        let moments = try [before, later].map { try #require($0.object["updated"] as? Int) }
        #expect(moments[1] >= moments[0] + 5, "\(moments)")
        try pass(.seconds(5))
        #expect(try await device.metadata().text == later.text, "it is told when it changed, not when it was read")
    }

    @Test("bridge B63: each media token is of another decision but the first, which waits for its app for a minute")
    func givesTokensOnce() async throws {
        let upstream = try await upstream()
        let device = try await settled()
        func end(_ media: HTTPAnswer) throws -> Int64 {
            try #require((media.object["expires"] as? String).flatMap { Int64($0) }, "\(media.status) \(media.text)")
        }
        try await upstream.forgetCalls()
        #expect(try await device.authorize("ACME1-NEWS").status == 200)
        let first = try await device.mediaToken("ACME1-NEWS")
        #expect(try await upstream.count("authorize") == 1)
        let second = try await device.mediaToken("ACME1-NEWS")
        #expect(try await upstream.count("authorize") == 2)
        #expect(second.status == 200 && second.object["serializedToken"] as? String != first.object["serializedToken"] as? String)
        #expect(try await device.authorize("ACME1-SPORT").status == 200)
        #expect(try await upstream.count("authorize") == 3)
        try pass(.seconds(90))
        let late = try await device.mediaToken("ACME1-SPORT")
        #expect(try await upstream.count("authorize") == 4)
        #expect(try end(late) - end(second) >= 89_000, "the one that waited would end as the others do")
    }

    @Test("bridge B65: a permit is given again for a minute without a call, then after one, and ends when it was to end")
    func repeatsPermits() async throws {
        let upstream = try await upstream()
        let device = try await settled()
        try await upstream.forgetCalls()
        let permit = try await device.authorize("ACME1-NEWS")
        let end = try #require(permit.object["expires"] as? String, "\(permit.text)")
        try pass(.seconds(55))
        #expect(try await device.authorize("ACME1-NEWS").object["expires"] as? String == end)
        #expect(try await upstream.count("authorize") == 1)
        try pass(.seconds(6))
        #expect(try await device.authorize("ACME1-NEWS").object["expires"] as? String == end)
        #expect(try await upstream.count("authorize") == 2)
    }

    @Test("bridge B67: a denial is told in the provider's words, and takes the permit along, whichever call hears it")
    func takesPermitsBack() async throws {
        let upstream = try await upstream()
        let device = try await settled()
        let words = "Not before eight"
        for resource in ["ACME1-NEWS", "ACME1-SPORT"] {
            #expect(try await device.authorize(resource).status == 200)
            #expect(try await device.mediaToken(resource).status == 200)
            #expect(try await device.authzToken(resource).status == 200)
        }
        // Upstream's own memory of its permits would be its answer.
        try await upstream.control("DELETE", "permits")
        try await upstream.setDecisions(
            ["ACME1-NEWS", "ACME1-SPORT"].map { script("authorization_denied_by_parental_controls", $0, details: words) })
        try pass(.seconds(61))
        let (decided, played) = (try await device.authorize("ACME1-NEWS"), try await device.mediaToken("ACME1-SPORT"))
        for denial in [decided, played] {
            #expect(denial.status == 403 && denial.object["details"] as? String == words, "\(denial.status) \(denial.text)")
        }
        for resource in ["ACME1-NEWS", "ACME1-SPORT"] { #expect(try await device.authzToken(resource).status == 404, "\(resource)") }
        #expect(try await device.mediaToken("ACME1-NEWS").status == 403, "nothing permits it any more")
        #expect(try await upstream.count("authorize") == 4)
        try await upstream.setDecisions([])
    }

    @Test("bridge B74: a decision that misses the profile is that call's refusal; the next call asks for the profile, and the session goes on")
    func doubtsSessions() async throws {
        let upstream = try await upstream()
        let device = try await settled("BRAVO")
        try await upstream.setDecisions([script("authenticated_profile_missing", "ACME1-NEWS")])
        try await upstream.forgetCalls()
        let refused = try await device.authorize("ACME1-NEWS")
        #expect(refused.status == 403 && refused.object["code"] as? String == "authentication_session_missing", "\(refused.status) \(refused.text)")
        #expect(try await upstream.counts() == ["authorize": 1])
        #expect(try await device.checkAuthn() == 200)
        #expect(try await upstream.counts() == ["authorize": 1, "profile": 1], "it was asked before the answer")
        #expect(try await device.checkAuthn() == 200)
        #expect(try await device.authorize("ACME1-NEWS").status == 200)
        #expect(try await upstream.counts() == ["authorize": 2, "profile": 1], "there is no doubt any more")
    }

    @Test("bridge B86: a rule of upstream's against plays counts a minute later at the latest, and its message is told")
    func heedsRules() async throws {
        let upstream = try await upstream()
        let device = try await settled("BRAVO")
        for resource in ["ACME1-NEWS", "ACME1-SPORT"] { #expect(try await device.authorize(resource).status == 200) }
        try await upstream.setRules([["kind": "AuthZNone", "serviceProvider": "BRAVOUP", "mvpd": "HillTel", "message": "Back at eight."]])
        try pass(.seconds(61))
        let (decided, played) = (try await device.authorize("ACME1-NEWS"), try await device.mediaToken("ACME1-SPORT"))
        try await upstream.setRules([])
        for refused in [decided, played] {
            #expect(refused.status == 403 && refused.object["details"] as? String == "Back at eight.", "\(refused.status) \(refused.text)")
            #expect(refused.object["code"] as? String == "authorization_denied_by_degradation_rule", "\(refused.text)")
        }
        #expect(try await device.authorize("ACME1-NEWS").status == 200, "the rule is lifted")
    }
}
