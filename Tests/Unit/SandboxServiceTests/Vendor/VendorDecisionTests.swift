import Foundation
import Testing

@testable import SandboxService

/// Authorization and preauthorization (rest-v2 §2.9, §2.10).
@Suite struct UpstreamDecisionTests {
    /// A party with somebody who has signed in.
    private static func run(as person: String = "ada", _ test: @Sendable (UpstreamParty, UpstreamParty.App) async throws -> Void) async throws {
        try await UpstreamParty.run { upstream in
            let app = try await upstream.app()
            try await upstream.signIn(app, as: person)
            try await test(upstream, app)
        }
    }

    private static func questions(_ upstream: UpstreamParty) async throws -> Int? {
        try await upstream.control(.get, "log").json["mvpdQuestions"] as? Int
    }

    @Test("rest-v2 #61: a permit") func permit() async throws {
        try await Self.run { upstream, app in
            let decision = try upstream.decision(try await upstream.decide(app))
            #expect(decision["authorized"] as? Bool == true && decision["source"] as? String == "mvpd")
            #expect(decision["serviceProvider"] as? String == "ACME1" && decision["mvpd"] as? String == "CoastCable")
            #expect(decision["notAfter"] as? Int == 1_900_086_400_000)
            let token = try #require(decision["token"] as? [String: Any])
            #expect((token["notAfter"] as? Int ?? 0) - (token["notBefore"] as? Int ?? 0) == 420_000)
        }
    }

    @Test("rest-v1 §7: the media token is signed by the certificate's key") func mediaToken() async throws {
        try await Self.run { upstream, app in
            let decision = try upstream.decision(try await upstream.decide(app))
            let text = try #require((decision["token"] as? [String: Any])?["serializedToken"] as? String)
            let clear = String(decoding: try #require(Data(base64Encoded: text)), as: UTF8.self)
            let parts = clear.components(separatedBy: "<signatureInfo>")
            #expect(parts.count == 3)
            let signature = try #require(Base64.octets(parts[1]))
            let certificate = try KeyFile.certificate(Keys.shared.path("stranger.crt"), key: "certificate")
            #expect(throws: Never.self) { try certificate.verify(signature, over: Array(parts[2].utf8), digest: "SHA256") }
            for part in ["<requestorID>ACME1<", "<resourceID>ACME1-NEWS<", "<ttl>420000<", "<mvpdId>CoastCable<"] { #expect(clear.contains(part)) }
            #expect(!clear.contains("proxyMvpdId") && clear.contains("<issueTime>2030-03-17 "))
        }
    }

    @Test("rest-v2 #62: a second play") func secondPlay() async throws {
        try await Self.run { upstream, app in
            func token() async throws -> String {
                let decision = try upstream.decision(try await upstream.decide(app))
                return try #require((decision["token"] as? [String: Any])?["serializedToken"] as? String)
            }
            let tokens = [try await token(), try await token(), try await token()]
            #expect(Set(tokens).count == 3)
            #expect(try await Self.questions(upstream) == 1)
            upstream.clock.advance(by: .seconds(86_400))
            _ = try await upstream.app()
            try await upstream.control(.delete, "permits")
            #expect(try await Self.questions(upstream) == 1)
        }
    }

    @Test("rest-v2 #63, #64: a denial") func denial() async throws {
        try await Self.run(as: "ben") { upstream, app in
            let reply = try await upstream.decide(app, ["ACME1-SPORT"])
            let decision = try upstream.decision(reply)
            let error = try #require(decision["error"] as? [String: Any])
            #expect(reply.status == 200 && decision["authorized"] as? Bool == false && decision["token"] == nil && decision["notAfter"] == nil)
            #expect(error["code"] as? String == "authorization_denied_by_mvpd" && error["status"] as? Int == 403)
            #expect(error["details"] as? String == "Add ACME1-SPORT to your package to watch it")
        }
    }

    @Test("rest-v2 #65: nobody signed in") func noProfile() async throws {
        try await Self.run { upstream, app in
            let decision = try upstream.decision(try await upstream.decide(app, mvpd: "HillTel"))
            #expect((decision["error"] as? [String: Any])?["action"] as? String == "authentication")
            #expect(upstream.item(decision) == "authenticated_profile_missing")
        }
    }

    @Test("rest-v2 #66: resources that are none", arguments: [#"{"resources":[]}"#, "{}", #"{"resources":[1]}"#, #"{"resources":[""]}"#, "[]"])
    func invalidResources(_ body: String) async throws {
        try await Self.run { upstream, app in
            let reply = try await upstream.json("/api/v2/ACME1/decisions/authorize/CoastCable", app.on(), body)
            #expect(reply.status == 400 && reply["code"] == "invalid_parameter_resources")
        }
    }

    @Test("rest-v2 #67, #68, #123: preauthorization") func preauthorization() async throws {
        try await Self.run(as: "ben") { upstream, app in
            let resources = ["ACME1-NEWS", "ACME1-SPORT", "ACME1-NEWS", "ACME1-KIDS"]
            let reply = try await upstream.decide(app, resources, kind: "preauthorize")
            let decisions = try #require(reply.json["decisions"] as? [[String: Any]])
            #expect(decisions.compactMap { $0["resource"] as? String } == ["ACME1-NEWS", "ACME1-SPORT", "ACME1-KIDS"])
            #expect(decisions.compactMap { $0["authorized"] as? Bool } == [true, false, false])
            #expect(decisions.allSatisfy { $0["token"] == nil && $0["notAfter"] == nil })
            #expect(upstream.item(decisions[1]) == "preauthorization_denied_by_mvpd")
            let many = try await upstream.decide(app, (1...6).map { "R\($0)" }, kind: "preauthorize")
            let refused = try #require(many.json["decisions"] as? [[String: Any]])
            #expect(refused.count == 6 && refused.allSatisfy { upstream.item($0) == "too_many_resources" })
            try await upstream.control(.put, "integrations/ACME1/CoastCable", #"{"preauthorizeLimit": 3}"#)
            let four = try await upstream.decide(app, ["A", "B", "C", "D"], kind: "preauthorize")
            #expect(upstream.item(try upstream.decision(four)) == "too_many_resources")
        }
    }

    @Test("rest-v2 #69: authorization of two") func authorizationLimit() async throws {
        try await Self.run { upstream, app in
            let decision = try upstream.decision(try await upstream.decide(app, ["ACME1-NEWS", "ACME1-KIDS"]))
            #expect(upstream.item(decision) == "too_many_resources")
        }
    }

    @Test("rest-v2 #70 and §2.9: what MVPDs say, as tests ask for it") func scripted() async throws {
        try await Self.run { upstream, app in
            let script = """
                [{"code": "network_connection_timeout", "times": 1}, {"code": "later_code", "status": 418, "action": "authentication", "details": "D"},
                 {"resource": "NOWHERE"}]
                """
            try await upstream.control(.put, "decisions", script)
            let first = try upstream.decision(try await upstream.decide(app))
            #expect(upstream.item(first) == "network_connection_timeout")
            #expect((first["error"] as? [String: Any])?["action"] as? String == "retry")
            let second = try #require(try upstream.decision(try await upstream.decide(app))["error"] as? [String: Any])
            #expect(second["code"] as? String == "later_code" && second["status"] as? Int == 418 && second["details"] as? String == "D")
            #expect(try upstream.decision(try await upstream.decide(app, ["NOWHERE"]))["authorized"] as? Bool == true)
            #expect(try upstream.decision(try await upstream.decide(app))["authorized"] as? Bool == true)
        }
    }

    @Test("rest-v2 #71, #72, #120: degradation") func degradation() async throws {
        try await UpstreamParty.run { upstream in
            let app = try await upstream.app()
            try await upstream.control(.put, "rules", #"[{"kind": "AuthZAll", "serviceProvider": "ACME1", "mvpd": "CoastCable"}]"#)
            let permit = try upstream.decision(try await upstream.decide(app))
            #expect(permit["source"] as? String == "degradation" && permit["token"] != nil && permit["notAfter"] == nil)
            let rules = """
                [{"kind": "AuthZAll", "serviceProvider": "ACME1", "mvpd": "CoastCable"},
                 {"kind": "AuthZNone", "serviceProvider": "ACME1", "mvpd": "CoastCable", "message": "Blackout", "resources": ["ACME1-NEWS"],
                  "endMilliseconds": 1900000060000}]
                """
            try await upstream.control(.put, "rules", rules)
            let denied = try upstream.decision(try await upstream.decide(app))
            #expect(upstream.item(denied) == "authorization_denied_by_degradation_rule" && denied["source"] as? String == "degradation")
            #expect((denied["error"] as? [String: Any])?["details"] as? String == "Blackout")
            #expect(try upstream.decision(try await upstream.decide(app, ["ACME1-KIDS"]))["authorized"] as? Bool == true)
            #expect(try await Self.questions(upstream) == 0)
            upstream.clock.advance(by: .seconds(60))
            #expect(try upstream.decision(try await upstream.decide(app))["authorized"] as? Bool == true)
        }
    }

    @Test("rest-v2 #79: Media RSS, and ratings") func mediaRss() async throws {
        try await Self.run(as: "dan") { upstream, app in
            func document(_ rating: String) -> String {
                let media = #"<media:rating scheme="urn:v-chip">\#(rating)</media:rating>"#
                return #"<rss xmlns:media="http://search.yahoo.com/mrss/"><channel><title>ACME1-NEWS</title><item>\#(media)</item></channel></rss>"#
            }
            let permit = try upstream.decision(try await upstream.decide(app, [document("TV-G")]))
            #expect(permit["authorized"] as? Bool == true && permit["resource"] as? String == document("TV-G"))
            let denied = try upstream.decision(try await upstream.decide(app, [document("TV-MA")]))
            #expect(upstream.item(denied) == "authorization_denied_by_parental_controls")
        }
    }

    @Test("rest-v2 #113: five denials in 10 s") func cutOff() async throws {
        try await Self.run(as: "cleo") { upstream, app in
            for _ in 0..<6 { #expect(upstream.item(try upstream.decision(try await upstream.decide(app))) == "authorization_denied_by_mvpd") }
            #expect(try await Self.questions(upstream) == 5)
            upstream.clock.advance(by: .seconds(10))
            _ = try await upstream.decide(app)
            #expect(try await Self.questions(upstream) == 6)
        }
    }

    @Test("rest-v2 §2.9: a decision may change attributes") func attributesAfterDecision() async throws {
        try await Self.run { upstream, app in
            var profile = try #require(try await upstream.control(.delete, "profiles").list.first)
            profile["afterDecision"] = ["language": ["value": "fr", "state": "plain"]]
            let body = String(decoding: try JSONSerialization.data(withJSONObject: [profile]), as: UTF8.self)
            try await upstream.control(.post, "profiles", body)
            func language() async throws -> String? {
                let attributes = try await upstream.profiles(app)["CoastCable"]?["attributes"] as? [String: [String: Any]]
                return attributes?["language"]?["value"] as? String
            }
            #expect(try await language() == "en")
            _ = try await upstream.decide(app)
            #expect(try await language() == "fr")
        }
    }

    @Test("rest-v1 §7: a proxied MVPD in the media token") func proxied() async throws {
        try await Self.run { upstream, app in
            try await upstream.control(.put, "mvpds/CoastCable", #"{"proxyMvpd": "BigProxy", "isProxy": true}"#)
            let decision = try upstream.decision(try await upstream.decide(app))
            let text = try #require((decision["token"] as? [String: Any])?["serializedToken"] as? String)
            let clear = String(decoding: try #require(Data(base64Encoded: text)), as: UTF8.self)
            #expect(clear.contains("<mvpdId>CoastCable</mvpdId><proxyMvpdId>BigProxy</proxyMvpdId>"))
        }
    }

    @Test("bridge B69: one person has one id in media tokens") func sessionGUID() async throws {
        try await Self.run { upstream, app in
            try await upstream.signIn(app, device: "second")
            try await upstream.signIn(app, as: "ben", device: "third")
            var ids: [String] = []
            for device in [UpstreamParty.device, "second", "third"] {
                let decision = try upstream.decision(try await upstream.decide(app, device: device))
                let text = try #require((decision["token"] as? [String: Any])?["serializedToken"] as? String)
                let clear = String(decoding: try #require(Data(base64Encoded: text)), as: UTF8.self)
                ids.append(try #require(clear.firstMatch(of: /<sessionGUID>([0-9a-f]{32})</).map { String($0.1) }))
            }
            #expect(ids[0] == ids[1] && ids[0] != ids[2])
        }
    }
}
