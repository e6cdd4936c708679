import Foundation
import Testing

@testable import SandboxApple
@testable import SandboxKit
@testable import SandboxProviders
@testable import SandboxService
@testable import SandboxVendor

/// Authorization and preauthorization (rest-v2 §2.9, §2.10).
@Suite struct VendorDecisionTests {
    /// A party with somebody who has signed in.
    private static func run(as person: String = "ada", _ test: @Sendable (VendorParty, VendorParty.App) async throws -> Void) async throws {
        try await VendorParty.run { vendor in
            let app = try await vendor.app()
            try await vendor.signIn(app, as: person)
            try await test(vendor, app)
        }
    }

    private static func questions(_ vendor: VendorParty) async throws -> Int? {
        try await vendor.control(.get, "log").json["mvpdQuestions"] as? Int
    }

    @Test("rest-v2 #61: a permit") func permit() async throws {
        try await Self.run { vendor, app in
            let decision = try vendor.decision(try await vendor.decide(app))
            #expect(decision["authorized"] as? Bool == true && decision["source"] as? String == "mvpd")
            #expect(decision["serviceProvider"] as? String == "ACME1" && decision["mvpd"] as? String == "CoastCable")
            #expect(decision["notAfter"] as? Int == 1_900_086_400_000)
            let token = try #require(decision["token"] as? [String: Any])
            #expect((token["notAfter"] as? Int ?? 0) - (token["notBefore"] as? Int ?? 0) == 420_000)
        }
    }

    @Test("rest-v1 §7: the media token is signed by the certificate's key") func mediaToken() async throws {
        try await Self.run { vendor, app in
            let decision = try vendor.decision(try await vendor.decide(app))
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
        try await Self.run { vendor, app in
            func token() async throws -> String {
                let decision = try vendor.decision(try await vendor.decide(app))
                return try #require((decision["token"] as? [String: Any])?["serializedToken"] as? String)
            }
            let tokens = [try await token(), try await token(), try await token()]
            #expect(Set(tokens).count == 3)
            #expect(try await Self.questions(vendor) == 1)
            vendor.clock.advance(by: .seconds(86_400))
            _ = try await vendor.app()
            try await vendor.control(.delete, "permits")
            #expect(try await Self.questions(vendor) == 1)
        }
    }

    @Test("rest-v2 #63, #64: a denial") func denial() async throws {
        try await Self.run(as: "ben") { vendor, app in
            let reply = try await vendor.decide(app, ["ACME1-SPORT"])
            let decision = try vendor.decision(reply)
            let error = try #require(decision["error"] as? [String: Any])
            #expect(reply.status == 200 && decision["authorized"] as? Bool == false && decision["token"] == nil && decision["notAfter"] == nil)
            #expect(error["code"] as? String == "authorization_denied_by_mvpd" && error["status"] as? Int == 403)
            #expect(error["details"] as? String == "Add ACME1-SPORT to your package to watch it")
        }
    }

    @Test("rest-v2 #65: nobody signed in") func noProfile() async throws {
        try await Self.run { vendor, app in
            let decision = try vendor.decision(try await vendor.decide(app, mvpd: "HillTel"))
            #expect((decision["error"] as? [String: Any])?["action"] as? String == "authentication")
            #expect(vendor.item(decision) == "authenticated_profile_missing")
        }
    }

    @Test("rest-v2 #66: resources that are none", arguments: [#"{"resources":[]}"#, "{}", #"{"resources":[1]}"#, #"{"resources":[""]}"#, "[]"])
    func invalidResources(_ body: String) async throws {
        try await Self.run { vendor, app in
            let reply = try await vendor.json("/api/v2/ACME1/decisions/authorize/CoastCable", app.on(), body)
            #expect(reply.status == 400 && reply["code"] == "invalid_parameter_resources")
        }
    }

    @Test("rest-v2 #67, #68, #123: preauthorization") func preauthorization() async throws {
        try await Self.run(as: "ben") { vendor, app in
            let resources = ["ACME1-NEWS", "ACME1-SPORT", "ACME1-NEWS", "ACME1-KIDS"]
            let reply = try await vendor.decide(app, resources, kind: "preauthorize")
            let decisions = try #require(reply.json["decisions"] as? [[String: Any]])
            #expect(decisions.compactMap { $0["resource"] as? String } == ["ACME1-NEWS", "ACME1-SPORT", "ACME1-KIDS"])
            #expect(decisions.compactMap { $0["authorized"] as? Bool } == [true, false, false])
            #expect(decisions.allSatisfy { $0["token"] == nil && $0["notAfter"] == nil })
            #expect(vendor.item(decisions[1]) == "preauthorization_denied_by_mvpd")
            let many = try await vendor.decide(app, (1...6).map { "R\($0)" }, kind: "preauthorize")
            let refused = try #require(many.json["decisions"] as? [[String: Any]])
            #expect(refused.count == 6 && refused.allSatisfy { vendor.item($0) == "too_many_resources" })
            try await vendor.control(.put, "integrations/ACME1/CoastCable", #"{"preauthorizeLimit": 3}"#)
            let four = try await vendor.decide(app, ["A", "B", "C", "D"], kind: "preauthorize")
            #expect(vendor.item(try vendor.decision(four)) == "too_many_resources")
        }
    }

    @Test("rest-v2 #69: authorization of two") func authorizationLimit() async throws {
        try await Self.run { vendor, app in
            let decision = try vendor.decision(try await vendor.decide(app, ["ACME1-NEWS", "ACME1-KIDS"]))
            #expect(vendor.item(decision) == "too_many_resources")
        }
    }

    @Test("rest-v2 #70 and §2.9: what MVPDs say, as tests ask for it") func scripted() async throws {
        try await Self.run { vendor, app in
            let script = """
                [{"code": "network_connection_timeout", "times": 1}, {"code": "later_code", "status": 418, "action": "authentication", "details": "D"},
                 {"resource": "NOWHERE"}]
                """
            try await vendor.control(.put, "decisions", script)
            let first = try vendor.decision(try await vendor.decide(app))
            #expect(vendor.item(first) == "network_connection_timeout")
            #expect((first["error"] as? [String: Any])?["action"] as? String == "retry")
            let second = try #require(try vendor.decision(try await vendor.decide(app))["error"] as? [String: Any])
            #expect(second["code"] as? String == "later_code" && second["status"] as? Int == 418 && second["details"] as? String == "D")
            #expect(try vendor.decision(try await vendor.decide(app, ["NOWHERE"]))["authorized"] as? Bool == true)
            #expect(try vendor.decision(try await vendor.decide(app))["authorized"] as? Bool == true)
        }
    }

    @Test("rest-v2 #71, #72, #120: degradation") func degradation() async throws {
        try await VendorParty.run { vendor in
            let app = try await vendor.app()
            try await vendor.control(.put, "rules", #"[{"kind": "AuthZAll", "serviceProvider": "ACME1", "mvpd": "CoastCable"}]"#)
            let permit = try vendor.decision(try await vendor.decide(app))
            #expect(permit["source"] as? String == "degradation" && permit["token"] != nil && permit["notAfter"] == nil)
            let rules = """
                [{"kind": "AuthZAll", "serviceProvider": "ACME1", "mvpd": "CoastCable"},
                 {"kind": "AuthZNone", "serviceProvider": "ACME1", "mvpd": "CoastCable", "message": "Blackout", "resources": ["ACME1-NEWS"],
                  "endMilliseconds": 1900000060000}]
                """
            try await vendor.control(.put, "rules", rules)
            let denied = try vendor.decision(try await vendor.decide(app))
            #expect(vendor.item(denied) == "authorization_denied_by_degradation_rule" && denied["source"] as? String == "degradation")
            #expect((denied["error"] as? [String: Any])?["details"] as? String == "Blackout")
            #expect(try vendor.decision(try await vendor.decide(app, ["ACME1-KIDS"]))["authorized"] as? Bool == true)
            #expect(try await Self.questions(vendor) == 0)
            vendor.clock.advance(by: .seconds(60))
            #expect(try vendor.decision(try await vendor.decide(app))["authorized"] as? Bool == true)
        }
    }

    @Test("rest-v2 #79: Media RSS, and ratings") func mediaRss() async throws {
        try await Self.run(as: "dan") { vendor, app in
            func document(_ rating: String) -> String {
                let media = #"<media:rating scheme="urn:v-chip">\#(rating)</media:rating>"#
                return #"<rss xmlns:media="http://search.yahoo.com/mrss/"><channel><title>ACME1-NEWS</title><item>\#(media)</item></channel></rss>"#
            }
            let permit = try vendor.decision(try await vendor.decide(app, [document("TV-G")]))
            #expect(permit["authorized"] as? Bool == true && permit["resource"] as? String == document("TV-G"))
            let denied = try vendor.decision(try await vendor.decide(app, [document("TV-MA")]))
            #expect(vendor.item(denied) == "authorization_denied_by_parental_controls")
        }
    }

    @Test("rest-v2 #113: five denials in 10 s") func cutOff() async throws {
        try await Self.run(as: "cleo") { vendor, app in
            for _ in 0..<6 { #expect(vendor.item(try vendor.decision(try await vendor.decide(app))) == "authorization_denied_by_mvpd") }
            #expect(try await Self.questions(vendor) == 5)
            vendor.clock.advance(by: .seconds(10))
            _ = try await vendor.decide(app)
            #expect(try await Self.questions(vendor) == 6)
        }
    }

    @Test("rest-v2 §2.9: a decision may change attributes") func attributesAfterDecision() async throws {
        try await Self.run { vendor, app in
            var profile = try #require(try await vendor.control(.delete, "profiles").list.first)
            profile["afterDecision"] = ["language": ["value": "fr", "state": "plain"]]
            let body = String(decoding: try JSONSerialization.data(withJSONObject: [profile]), as: UTF8.self)
            try await vendor.control(.post, "profiles", body)
            func language() async throws -> String? {
                let attributes = try await vendor.profiles(app)["CoastCable"]?["attributes"] as? [String: [String: Any]]
                return attributes?["language"]?["value"] as? String
            }
            #expect(try await language() == "en")
            _ = try await vendor.decide(app)
            #expect(try await language() == "fr")
        }
    }

    @Test("rest-v1 §7: a proxied MVPD in the media token") func proxied() async throws {
        try await Self.run { vendor, app in
            try await vendor.control(.put, "mvpds/CoastCable", #"{"proxyMvpd": "BigProxy", "isProxy": true}"#)
            let decision = try vendor.decision(try await vendor.decide(app))
            let text = try #require((decision["token"] as? [String: Any])?["serializedToken"] as? String)
            let clear = String(decoding: try #require(Data(base64Encoded: text)), as: UTF8.self)
            #expect(clear.contains("<mvpdId>CoastCable</mvpdId><proxyMvpdId>BigProxy</proxyMvpdId>"))
        }
    }

    @Test("bridge B69: one person has one id in media tokens") func sessionGUID() async throws {
        try await Self.run { vendor, app in
            try await vendor.signIn(app, device: "second")
            try await vendor.signIn(app, as: "ben", device: "third")
            var ids: [String] = []
            for device in [VendorParty.device, "second", "third"] {
                let decision = try vendor.decision(try await vendor.decide(app, device: device))
                let text = try #require((decision["token"] as? [String: Any])?["serializedToken"] as? String)
                let clear = String(decoding: try #require(Data(base64Encoded: text)), as: UTF8.self)
                ids.append(try #require(clear.firstMatch(of: /<sessionGUID>([0-9a-f]{32})</).map { String($0.1) }))
            }
            #expect(ids[0] == ids[1] && ids[0] != ids[2])
        }
    }
}
