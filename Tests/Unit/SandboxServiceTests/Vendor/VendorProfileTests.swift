import Foundation
import Testing

@testable import SandboxApple
@testable import SandboxKit
@testable import SandboxProviders
@testable import SandboxService
@testable import SandboxVendor

/// Profiles (rest-v2 §2.6 to §2.8, §4).
@Suite struct VendorProfileTests {
    @Test("rest-v2 #42, #43, #59: regular profiles") func regular() async throws {
        try await VendorParty.run { vendor in
            let app = try await vendor.app()
            #expect(try await vendor.get("/api/v2/ACME1/profiles", app.on()).text == #"{"profiles":{}}"#)
            try await vendor.signIn(app)
            try await vendor.signIn(app, mvpd: "HillTel")
            let profiles = try await vendor.profiles(app)
            #expect(profiles.keys.sorted() == ["CoastCable", "HillTel"])
            let coast = try #require(profiles["CoastCable"])
            #expect(coast["issuer"] as? String == "CoastCable" && coast["type"] as? String == "regular")
            #expect(coast["notBefore"] as? Int == 1_900_000_000_000 && coast["notAfter"] as? Int == 1_902_592_000_000)
            let attributes = try #require(coast["attributes"] as? [String: [String: Any]])
            #expect((attributes["userID"]?["value"] as? String)?.hasPrefix("u-") == true && attributes["userID"]?["state"] as? String == "plain")
            #expect(attributes["zip"]?["state"] as? String == "enc" && (attributes["zip"]?["value"] as? String)?.count == 344)
            #expect((attributes["channelID"]?["value"] as? [String])?.count == 5)
            #expect(attributes["maxRating"]?["value"] as? [String: String] == ["MPAA": "NC-17", "VCHIP": "TV-MA"])
        }
    }

    @Test("rest-v2 #46: one MVPD without a profile") func none() async throws {
        try await VendorParty.run { vendor in
            let app = try await vendor.app()
            #expect(try await vendor.get("/api/v2/ACME1/profiles/CoastCable", app.on()).text == #"{"profiles":{}}"#)
            #expect(try await vendor.get("/api/v2/ACME1/profiles/Nobody", app.on())["code"] == "invalid_parameter_mvpd")
        }
    }

    @Test("rest-v2 #44, #47: under AuthNAll") func degraded() async throws {
        try await VendorParty.run { vendor in
            let app = try await vendor.app()
            try await vendor.control(.put, "rules", #"[{"kind": "AuthNAll", "serviceProvider": "ACME1", "mvpd": "CoastCable"}]"#)
            #expect(try await vendor.profiles(app).isEmpty)
            let profile = try #require(try await vendor.profiles(app, "/CoastCable")["CoastCable"])
            #expect(profile["type"] as? String == "degraded" && profile["issuer"] as? String == "Adobe")
            #expect(profile["notAfter"] as? Int == 1_900_000_060_000)
            let user = (profile["attributes"] as? [String: [String: Any]])?["userID"]?["value"] as? String
            #expect(user?.hasPrefix("95cf93bcd183214a") == true && user?.count == 56)
        }
    }

    @Test("rest-v2 #54 to #57: by code") func byCode() async throws {
        try await VendorParty.run { vendor in
            let (app, other) = (try await vendor.app(), try await vendor.app())
            let session = try await vendor.session(app)
            let path = "/code/\(session["code"] ?? "")"
            #expect(try await vendor.profiles(app, path).isEmpty)
            _ = try await vendor.logIn(try #require(session["url"]))
            #expect((try await vendor.profiles(app, path)["CoastCable"]?["attributes"] as? [String: Any])?.count == 15)
            #expect((try await vendor.profiles(other, path)["CoastCable"]?["attributes"] as? [String: Any])?.keys.sorted() == ["userID"])
            #expect(try await vendor.profiles(app, device: "other-device").isEmpty)
            #expect(try await vendor.profiles(other).isEmpty)
            vendor.clock.advance(by: .seconds(3600))
            #expect(try await vendor.get("/api/v2/ACME1/profiles\(path)", other.bearer)["code"] == "invalid_authentication_session")
            #expect(try await vendor.profiles(app, path).count == 1)
            _ = try await vendor.get("/api/v2/ACME1/logout/CoastCable?redirectUrl=https%3A%2F%2Facme.example%2F", app.on())
            #expect(try await vendor.profiles(app, path).isEmpty)
        }
    }

    @Test("rest-v2 #60: profiles end") func expiry() async throws {
        try await VendorParty.run { vendor in
            try await vendor.control(.put, "integrations/ACME1/CoastCable", #"{"authnSeconds": 600}"#)
            let app = try await vendor.app()
            let code = try await vendor.signIn(app)
            vendor.clock.advance(by: .seconds(600))
            #expect(try await vendor.profiles(app).isEmpty)
            let decision = try vendor.decision(try await vendor.decide(app))
            #expect(vendor.item(decision) == "authenticated_profile_expired")
            #expect(try await vendor.get("/api/v2/ACME1/profiles/code/\(code)", app.bearer)["code"] == "invalid_authentication_session")
        }
    }

    @Test("rest-v2 #112: an integration that is switched off") func disabled() async throws {
        try await VendorParty.run { vendor in
            let app = try await vendor.app()
            try await vendor.signIn(app)
            try await vendor.control(.put, "integrations/ACME1/CoastCable", #"{"isEnabled": false}"#)
            #expect(try await vendor.profiles(app).isEmpty)
            #expect(try await vendor.get("/api/v2/ACME1/profiles/CoastCable", app.on())["code"] == "invalid_integration")
            #expect(try await vendor.decide(app)["code"] == "invalid_integration")
            try await vendor.control(.put, "integrations/ACME1/CoastCable", #"{"isEnabled": true}"#)
            #expect(try vendor.decision(try await vendor.decide(app))["authorized"] as? Bool == true)
        }
    }

    @Test("rest-v2 #26, #101: a platform's token") func platformToken() async throws {
        try await VendorParty.run { vendor in
            let (app, other) = (try await vendor.app(), try await vendor.app())
            try await vendor.control(.put, "identities", #"{"token": "roku-1", "kind": "platform", "id": "household-1"}"#)
            let header = ["X-Roku-Reserved-Roku-Connect-Token": "roku-1"]
            try await vendor.signIn(app, headers: header)
            #expect(try await vendor.profiles(other, device: "tv-2").isEmpty)
            let shared = try #require(try await vendor.profiles(other, device: "tv-2", headers: header)["CoastCable"])
            #expect(shared["type"] as? String == "platformSSO" && shared["issuer"] as? String == "CoastCable")
            #expect(try await vendor.session(other, device: "tv-2", headers: header)["reasonType"] == "authenticatedSSO")
            let decision = try await vendor.decide(other, device: "tv-2", headers: header)
            #expect(try vendor.decision(decision)["authorized"] as? Bool == true)
            #expect(try await vendor.profiles(other, device: "tv-2", headers: ["Adobe-Subject-Token": "unknown"]).isEmpty)
            #expect(try await vendor.profiles(other, device: "tv-2", headers: header, sp: "BRAVOUP").count == 1)
            try await vendor.control(.put, "identities", #"{"token": "roku-1", "kind": "platform"}"#)
            #expect(try await vendor.profiles(other, device: "tv-2", headers: header).isEmpty)
        }
    }

    @Test("rest-v2 #100: a service token") func serviceToken() async throws {
        try await VendorParty.run { vendor in
            let (app, other) = (try await vendor.app(), try await vendor.app())
            try await vendor.control(.put, "identities", #"{"token": "jws", "kind": "service", "id": "user-1"}"#)
            try await vendor.signIn(app, headers: ["AD-Service-Token": "jws"])
            let own = try #require(try await vendor.profiles(app)["CoastCable"])
            vendor.clock.advance(by: .seconds(60))
            let shared = try #require(try await vendor.profiles(other, device: "tv-2", headers: ["AD-Service-Token": "jws"])["CoastCable"])
            #expect(shared["type"] as? String == "serviceTokenSSO" && shared["notAfter"] as? Int == own["notAfter"] as? Int)
            #expect(try await vendor.profiles(other, device: "tv-2", headers: ["Adobe-Subject-Token": "jws"]).isEmpty)
        }
    }

    @Test func aProfileCanBeVisibleLater() async throws {
        try await VendorParty.run { vendor in
            try await vendor.control(.put, "behaviour", #"{"visibilityMilliseconds": 1000}"#)
            let app = try await vendor.app()
            let code = try await vendor.signIn(app)
            #expect(try await vendor.profiles(app, "/code/\(code)").isEmpty)
            vendor.clock.advance(by: .milliseconds(1000))
            #expect(try await vendor.profiles(app, "/code/\(code)").count == 1)
        }
    }

    @Test func encryptionCanBeNamedOtherwise() async throws {
        try await VendorParty.run { vendor in
            try await vendor.control(.put, "behaviour", #"{"encryptedState": "encrypted", "encryptsUserID": true}"#)
            let app = try await vendor.app()
            try await vendor.signIn(app)
            let attributes = try await vendor.profiles(app)["CoastCable"]?["attributes"] as? [String: [String: Any]]
            #expect(attributes?["userID"]?["state"] as? String == "encrypted" && attributes?["zip"]?["state"] as? String == "encrypted")
        }
    }
}
