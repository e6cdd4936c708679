@testable import ClusterCommands
@testable import CommandKit
import Testing

extension RestV1Tests {
    @Suite("Authorization")
    struct AuthorizationTests {
        @Test("rest-v1 #60: a permit is kept; the MVPD is not asked again")
        func permit() async throws {
            let (device, sandbox) = (try await signedIn(), try SandboxControl.running())
            let first = try await device.authorize("ACME1-NEWS")
            #expect(first.status == 200)
            #expect(first.object["resource"] as? String == "ACME1-NEWS" && first.object["mvpd"] as? String == "NorthCable")
            let expires = try #require(first.object["expires"] as? String)
            let asked = try await sandbox.decisions()
            let second = try await device.authorize("ACME1-NEWS")
            #expect(second.object["expires"] as? String == expires)
            #expect(try await sandbox.decisions() == asked)
            #expect(try await device.authzToken("ACME1-NEWS").object["expires"] as? String == expires)
        }

        @Test("rest-v1 #61: a denial carries the MVPD's text")
        func denial() async throws {
            let device = try await signedIn(as: "ben")
            #expect(try await device.authorize("ACME1-NEWS").status == 200)
            let answer = try await device.authorize("ACME1-SPORT")
            #expect(answer.status == 403)
            #expect(answer.object["details"] as? String == "Add ACME1-SPORT to your package to watch it")
            #expect(try await device.authzToken("ACME1-SPORT").status == 404)
        }

        @Test("rest-v1 #62: without a session nothing is authorized")
        func noSession() async throws {
            let device = try await Device.make()
            #expect(try await device.authorize("ACME1-NEWS").status == 403)
            #expect(try await device.authzToken("ACME1-NEWS").status == 412)
        }

        @Test("rest-v1 #63, #112: no authorization before authorize, an expired one after its time", arguments: ["ACME1", "BRAVO"])
        func authzToken(_ requestor: String) async throws {
            let device = try await signedIn(at: requestor)
            #expect(try await device.authzToken("ACME1-NEWS").status == 404)
            try await SandboxControl.running().shortenNextPermit(to: 1)
            #expect(try await device.authorize("ACME1-NEWS").status == 200)
            try await Condition.wait("the permit expires") { try await device.authzToken("ACME1-NEWS").status == 410 }
            let play = try await device.mediaToken("ACME1-NEWS")
            #expect(play.status == 403)
            if requestor == "BRAVO" { #expect(play.object["code"] as? String == "authorization_not_found") }
        }

        @Test("rest-v1 #64: malformed Media RSS is refused")
        func malformedMediaRss() async throws {
            let device = try await signedIn(at: "BRAVO")
            for resource in [
                "<rss", "<rss version=\"2.0\"><channel/></rss>", "<!DOCTYPE a><rss version=\"2.0\"><channel><title>A</title></channel></rss>",
            ] {
                let answer = try await device.authorize(resource)
                #expect(answer.status == 400 && answer.object["code"] as? String == "malformed_authz_request", "\(resource)")
            }
        }

        @Test("rest-v1 #67: after five denials in ten seconds the MVPD is not asked")
        func repeatedDenials() async throws {
            let (device, sandbox) = (try await signedIn(as: "cleo"), try SandboxControl.running())
            let before = try await sandbox.decisions()
            var details: Set<String> = []
            for _ in 0..<6 {
                let answer = try await device.authorize("ACME1-KIDS")
                #expect(answer.status == 403)
                details.insert(answer.object["details"] as? String ?? "")
            }
            #expect(try await sandbox.decisions() - before == 5)
            #expect(details.count == 1 && details.first?.isEmpty == false)
        }

        @Test("a parental limit denies what is rated above it, and only that")
        func parentalLimit() async throws {
            let device = try await signedIn(as: "dan", at: "BRAVO")
            let denied = try await device.authorize(rated("TV-MA"))
            #expect(denied.status == 403 && denied.object["code"] as? String == "authorization_denied_by_parental_controls")
            #expect(try await device.authorize(rated("TV-G")).status == 200)
            #expect(try await signedIn(at: "BRAVO").authorize(rated("TV-MA")).status == 200)
        }

        @Test(
            "rest-v1 #113: the rating reaches the MVPD whatever the namespace and the spelling of the scheme",
            arguments: ["http://search.yahoo.com/mrss/", "http://video.search.yahoo.com/mrss/", "https://search.yahoo.com/mrss/"],
            ["urn:vchip", "urn:v-chip"])
        func spellings(_ namespace: String, _ scheme: String) async throws {
            let device = try await signedIn(as: "dan", at: "BRAVO")
            let denied = try await device.authorize(rated("TV-MA", namespace: namespace, scheme: scheme))
            #expect(denied.status == 403 && denied.object["code"] as? String == "authorization_denied_by_parental_controls")
            #expect(try await device.authorize(rated("TV-G", namespace: namespace, scheme: scheme)).status == 200)
        }

        @Test(
            "mvpd §4.2: what an MVPD gives as its reason decides the code",
            arguments: [
                ("identity-not-recognized", "identity_not_recognized_by_mvpd"), ("hba-policies", "authorization_denied_by_hba_policies"),
                ("session-invalidated", "authorization_denied_by_session_invalidated"), ("other", "authorization_denied_by_mvpd"),
            ])
        func reasons(_ reason: String, _ code: String) async throws {
            let device = try await signedIn(at: "BRAVO")
            try await SandboxControl.running().shapeNextAnswer(#""denialReason": "\#(reason)""#)
            let answer = try await device.authorize("ACME1-NEWS")
            #expect(answer.status == 403 && answer.object["code"] as? String == code)
        }

        private func rated(_ rating: String, namespace: String = "http://search.yahoo.com/mrss/", scheme: String = "urn:v-chip") -> String {
            """
            <rss version="2.0" xmlns:media="\(namespace)"><channel><title>ACME1-NEWS</title>\
            <item><title>Film</title><media:rating scheme="\(scheme)">\(rating)</media:rating></item></channel></rss>
            """
        }

        private func signedIn(as name: String = "ada", at requestor: String = "ACME1") async throws -> Device {
            let device = try await Device.make(requestor)
            try await device.signIn(as: name)
            return device
        }
    }
}
