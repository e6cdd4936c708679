@testable import ClusterCommands
@testable import CommandKit
import Foundation
import Testing

extension RestV1Tests {
    @Suite("Sessions and logout")
    struct SessionTests {
        @Test("rest-v1 #47: no session before the login, and an expired one after its time")
        func checkAuthn() async throws {
            let device = try await Device.make()
            #expect(try await device.checkAuthn() == 403)
            try await device.signInBriefly()
            try await Condition.wait("the session expires") { try await device.checkAuthn() == 403 }
            let answer = try await device.get("/api/v1/checkauthn")
            #expect(answer.object["message"] as? String == "Authentication token expired")
        }

        @Test("rest-v1 #48: tokens/authn tells the session, none, an expired one, and none after logout")
        func authnToken() async throws {
            let device = try await Device.make()
            #expect(try await device.authnToken().status == 404)
            try await device.signIn()
            let token = try await device.authnToken()
            #expect(token.status == 200)
            #expect(Set(token.object.keys) == ["requestor", "mvpd", "userId", "expires"])
            #expect((token.object["expires"] as? String).flatMap { Int64($0) } != nil)
            #expect(token.object["requestor"] as? String == "ACME1" && token.object["mvpd"] as? String == "NorthCable")
            #expect(try await device.logout() == 204)
            #expect(try await device.authnToken().status == 404)
            try await device.signInBriefly()
            try await Condition.wait("the session expires") { try await device.authnToken().status == 410 }
        }

        @Test("rest-v1 #49: a login with a second MVPD replaces the first, and its authorizations")
        func secondMvpd() async throws {
            let device = try await Device.make()
            try await device.signIn()
            try #require(try await device.authorize("ACME1-NEWS").status == 200)
            try #require(try await device.authzToken("ACME1-NEWS").status == 200)
            try await device.signIn(at: "LakeTel")
            #expect(try await device.authnToken().object["mvpd"] as? String == "LakeTel")
            #expect(try await device.authzToken("ACME1-NEWS").status == 404)
        }

        @Test("rest-v1 #50: the same device at another requestor is not signed in")
        func otherRequestor() async throws {
            let device = try await Device.make()
            try await device.signIn()
            #expect(try await device.at("ACME2").checkAuthn() == 403)
        }

        @Test("device ids that differ in their form of Unicode alone are two devices")
        func formsOfUnicode() async throws {
            let suffix = UUID().uuidString
            let composed = try await Device.make(id: "a\u{e9}" + suffix)
            let decomposed = try await Device.make(id: "ae\u{301}" + suffix)
            try await composed.signIn()
            #expect(try await composed.checkAuthn() == 200)
            #expect(try await decomposed.checkAuthn() == 403)
            #expect(try await decomposed.authnToken().status == 404)
            #expect(try await decomposed.authorize("ACME1-NEWS").status == 403)
            try await decomposed.signIn(at: "LakeTel")
            #expect(try await composed.authnToken().object["mvpd"] as? String == "NorthCable")
            #expect(try await decomposed.authnToken().object["mvpd"] as? String == "LakeTel")
            #expect(try await decomposed.logout() == 204)
            #expect(try await composed.checkAuthn() == 200)
        }

        @Test("rest-v1 #85: logout ends one requestor's session with its authorizations, and may be repeated")
        func logout() async throws {
            let device = try await Device.make()
            try await device.signIn()
            try await device.at("ACME2").signIn()
            try #require(try await device.authorize("ACME1-NEWS").status == 200)
            #expect(try await device.logout() == 204)
            #expect(try await device.checkAuthn() == 403)
            #expect(try await device.authzToken("ACME1-NEWS").status == 412)
            #expect(try await device.at("ACME2").checkAuthn() == 200)
            #expect(try await device.logout() == 204)
        }

        @Test("rest-v1 #105: another appId finds no session, none at all does")
        func appID() async throws {
            let device = try await Device.make()
            try await device.signIn(code: try await device.code([("appId", "first-app")]))
            #expect(try await device.checkAuthn() == 200)
            #expect(try await device.get("/api/v1/checkauthn", ["appId": "first-app"]).status == 200)
            #expect(try await device.get("/api/v1/checkauthn", ["appId": "second-app"]).status == 403)
        }

        @Test("rest-v1 #106: logout without requestor ends every session of the application on the device")
        func logoutEverywhere() async throws {
            let device = try await Device.make()
            try await device.signIn()
            try await device.at("ACME2").signIn()
            let call = device.call("/api/v1/logout", method: "DELETE").with { $0.query["requestor"] = nil }
            #expect(try await device.cluster.send(call).status == 204)
            for requestor in ["ACME1", "ACME2"] { #expect(try await device.at(requestor).checkAuthn() == 403) }
        }

        @Test("rest-v1 #108: a web view's logout with a foreign redirect_url ends nothing")
        func foreignRedirect() async throws {
            let device = try await Device.make()
            try await device.signIn()
            #expect(try await device.get("/api/v1/logout", ["redirect_url": "https://foreign.example/"]).status == 400)
            #expect(try await device.checkAuthn() == 200)
            for url in ["adobepass://unknown.app", "adobepass://example.foreign", "adobepass://"] {
                #expect(try await device.get("/api/v1/logout", ["redirect_url": url]).status == 400)
            }
            #expect(try await device.checkAuthn() == 200)
            let own = try await device.at("ACME2").get("/api/v1/logout", ["redirect_url": "adobepass://ios.app"])
            #expect(own.status == 302 && own.header("location") == "adobepass://ios.app")
            let answer = try await device.get("/api/v1/logout", ["redirect_url": device.end])
            // The MVPD's logout comes first (mvpd #81); through a bridge it is at upstream (bridge §10.2).
            let first = "\(device.cluster.standIns.gateway)/adobe-services/logout?handle="
            #expect(answer.status == 302 && answer.header("location")?.hasPrefix(first) == true, "\(answer.header("location") ?? "")")
            #expect(answer.header("referrer-policy") == "no-referrer")
            #expect(try await device.checkAuthn() == 403)
        }
    }
}
