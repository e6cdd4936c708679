import Foundation
import Testing

@testable import SandboxApple
@testable import SandboxKit
@testable import SandboxProviders
@testable import SandboxService
@testable import SandboxVendor

/// Logout (rest-v2 §2.11), and sign-in by Apple's platform (§2.12, §2.13).
@Suite struct VendorLogoutTests {
    private static func logOut(
        _ vendor: VendorParty, _ app: VendorParty.App, _ mvpd: String = "CoastCable", headers: [String: String] = [:]
    ) async throws -> [String: String] {
        let address = FormFields.encoded("https://www.acme.example/out?x=1")
        let reply = try await vendor.get("/api/v2/ACME1/logout/\(mvpd)?redirectUrl=\(address)", app.on(VendorParty.device, headers))
        let entry = try #require((reply.json["logouts"] as? [String: [String: String]])?[mvpd], "\(reply.text)")
        return entry.filter { $0.key != "mvpd" }
    }

    @Test("rest-v2 #81: an MVPD with a logout") func withLogout() async throws {
        try await VendorParty.run(#", "publicURL": "http://upstream.example""#) { vendor in
            let app = try await vendor.app()
            try await vendor.signIn(app)
            let entry = try await Self.logOut(vendor, app)
            #expect(entry["actionName"] == "logout" && entry["actionType"] == "interactive")
            let url = try #require(entry["url"])
            #expect(url.hasPrefix("http://upstream.example/mvpd/CoastCable/logout?"))
            #expect(try await vendor.profiles(app).isEmpty)
            let end = try await vendor.get(String(url.dropFirst("http://upstream.example".count)))
            #expect(end.status == 302 && end.headers[.location] == "https://www.acme.example/out?x=1")
            let astray = try await vendor.get("/mvpd/CoastCable/logout?redirect_url=https%3A%2F%2Fevil.example%2F")
            #expect(astray.status == 400 && astray.headers[.location] == nil)
        }
    }

    @Test("rest-v2 #82, #83, #85: without a page") func withoutLogout() async throws {
        try await VendorParty.run { vendor in
            let app = try await vendor.app()
            try await vendor.signIn(app, mvpd: "HillTel")
            #expect(try await Self.logOut(vendor, app, "HillTel") == ["actionName": "complete", "actionType": "none"])
            #expect(try await Self.logOut(vendor, app, "HillTel") == ["actionName": "invalid", "actionType": "none"])
            #expect(try await Self.logOut(vendor, app, "TrialUp") == ["actionName": "complete", "actionType": "none"])
            try await vendor.control(.put, "rules", #"[{"kind": "AuthNAll", "serviceProvider": "ACME1", "mvpd": "CoastCable"}]"#)
            #expect(try await Self.logOut(vendor, app) == ["actionName": "complete", "actionType": "none"])
        }
    }

    @Test("rest-v2 #86: the address is needed", arguments: ["", "?redirectUrl=", "?redirectUrl=x", "?redirectUrl=https%3A%2F%2Fevil.example"])
    func redirectURL(_ query: String) async throws {
        try await VendorParty.run { vendor in
            let app = try await vendor.app()
            let reply = try await vendor.get("/api/v2/ACME1/logout/CoastCable\(query)", app.on())
            #expect(reply.status == 400 && reply["code"] == "invalid_parameter_redirect_url")
        }
    }

    @Test("rest-v2 #87, bridge B92: with and without the person's token") func shared() async throws {
        try await VendorParty.run { vendor in
            let app = try await vendor.app()
            try await vendor.control(.put, "identities", #"{"token": "roku", "kind": "platform", "id": "home"}"#)
            let header = ["X-Roku-Reserved-Roku-Connect-Token": "roku"]
            func remaining() async throws -> Int { try await vendor.control(.get, "profiles").list.count }
            try await vendor.signIn(app, headers: header)
            let other = """
                [{"client": "\(app.id)", "device": "bravo-tv", "serviceProvider": "BRAVOUP", "mvpd": "CoastCable", "person": "ada",
                  "identities": [{"kind": "platform", "id": "home"}]}]
                """
            try await vendor.control(.post, "profiles", other)
            #expect(try await remaining() == 2)
            _ = try await Self.logOut(vendor, app)
            #expect(try await remaining() == 1)
            _ = try await Self.logOut(vendor, app, headers: header)
            #expect(try await remaining() == 0)
        }
    }

    // MARK: Apple's platform

    private static func status(_ access: String = "granted", id: String = "coast-cable", end: String = "1900000060000") -> [String: String] {
        let text =
            #"{"frameworkPermissionInfo":{"accessStatus":"\#(access)"},"frameworkProviderInfo":{"id":"\#(id)","expirationDate":"\#(end)"}}"#
        return ["AP-Partner-Framework-Status": Data(text.utf8).base64EncodedString()]
    }

    private static let tvOS = ["X-Device-Info": Data(#"{"osName":"tvOS","model":"AppleTV"}"#.utf8).base64EncodedString()]

    private static func ask(
        _ vendor: VendorParty, _ app: VendorParty.App, _ status: [String: String], redirect: String? = VendorParty.redirect,
        info: [String: String] = tvOS, partner: String = "Apple"
    ) async throws -> VendorParty.Reply {
        let headers = app.on(VendorParty.device, status.merging(info) { $1 })
        let fields = [("domainName", "acme.example")] + (redirect.map { [("redirectUrl", $0)] } ?? [])
        return try await vendor.form("/api/v2/ACME1/sessions/sso/\(partner)", headers, fields)
    }

    private static func exchange(
        _ vendor: VendorParty, _ app: VendorParty.App, _ answer: String?, _ status: [String: String]
    ) async throws -> VendorParty.Reply {
        let headers = app.on(VendorParty.device, status.merging(tvOS) { $1 })
        return try await vendor.form("/api/v2/ACME1/profiles/sso/Apple", headers, answer.map { [("SAMLResponse", $0)] } ?? [])
    }

    private static func answer(_ vendor: VendorParty, _ session: VendorParty.Reply, _ person: String = "ada") async throws -> String {
        let request = try #require((session.json["authenticationRequest"] as? [String: Any])?["request"] as? String)
        return try #require(
            try await vendor.control(.post, "partner-answers", #"{"request": "\#(request)", "person": "\#(person)"}"#)["SAMLResponse"])
    }

    @Test("rest-v2 #88, #94, #99, #84, #115: sign-in and logout") func platform() async throws {
        try await VendorParty.run { vendor in
            let app = try await vendor.app()
            let session = try await Self.ask(vendor, app, Self.status())
            #expect(session["actionName"] == "partner_profile" && session["code"] == nil && session["reasonType"] == "none")
            let request = try #require(session.json["authenticationRequest"] as? [String: Any])
            #expect(request["type"] as? String == "saml" && request["attributesNames"] as? [String] == ["uid", "NameID"])
            let answer = try await Self.answer(vendor, session)
            let made = try await Self.exchange(vendor, app, answer, Self.status())
            let profile = try #require((made.json["profiles"] as? [String: [String: Any]])?["CoastCable"])
            #expect(made.status == 201 && profile["type"] as? String == "appleSSO" && profile["issuer"] as? String == "Apple")
            #expect(((profile["attributes"] as? [String: [String: Any]])?["tokenSource"]?["value"]) as? String == "Apple")
            let again = try await Self.exchange(vendor, app, answer, Self.status())
            #expect(again["code"] == "invalid_parameter_saml_response")
            #expect(try await vendor.profiles(app).isEmpty)
            #expect(try await vendor.profiles(app, headers: Self.status()).count == 1)
            #expect(vendor.item(try vendor.decision(try await vendor.decide(app))) == "authenticated_profile_missing")
            #expect(try await vendor.decide(app, headers: Self.status("denied"))["code"] == "invalid_header_pfs_permission_access_not_granted")
            #expect(try vendor.decision(try await vendor.decide(app, headers: Self.status()))["authorized"] as? Bool == true)
            #expect(try await Self.logOut(vendor, app) == ["actionName": "partner_logout", "actionType": "partner_interactive"])
            #expect(try await vendor.profiles(app, headers: Self.status()).isEmpty)
        }
    }

    @Test("rest-v2 #89 to #93, #116, #117: fallbacks") func fallbacks() async throws {
        try await VendorParty.run { vendor in
            let app = try await vendor.app()
            let denied = try await Self.ask(vendor, app, Self.status("denied"))
            #expect(denied.status == 200 && denied["reasonType"] == "pfs_fallback" && denied["code"] != nil && denied["actionName"] == "resume")
            #expect(try await Self.ask(vendor, app, Self.status(id: "hill-tel"))["reasonType"] == "configuration_fallback")
            #expect(try await Self.ask(vendor, app, Self.status(), info: [:])["reasonType"] == "configuration_fallback")
            for redirect in [nil, "not a url"] {
                let reply = try await Self.ask(vendor, app, Self.status(), redirect: redirect)
                #expect(reply["actionName"] == "resume" && reply["reasonType"] == "missing_parameters_fallback")
                #expect(reply.json["missingParameters"] as? [String] == ["redirectUrl"])
            }
            #expect(try await Self.ask(vendor, app, Self.status(), partner: "Foo")["code"] == "invalid_parameter_partner")
            try await vendor.control(.put, "rules", #"[{"kind": "AuthNAll", "serviceProvider": "ACME1", "mvpd": "CoastCable"}]"#)
            #expect(try await Self.ask(vendor, app, Self.status())["reasonType"] == "degraded")
            try await vendor.control(.put, "integrations/ACME1/CoastCable", #"{"isEnabled": false}"#)
            #expect(try await Self.ask(vendor, app, Self.status())["code"] == "invalid_integration")
        }
    }

    @Test("rest-v2 #95: an exchange under AuthNAll") func degradedExchange() async throws {
        try await VendorParty.run { vendor in
            let app = try await vendor.app()
            let answer = try await Self.answer(vendor, try await Self.ask(vendor, app, Self.status()))
            try await vendor.control(.put, "rules", #"[{"kind": "AuthNAll", "serviceProvider": "ACME1", "mvpd": "CoastCable"}]"#)
            let reply = try await Self.exchange(vendor, app, answer, Self.status())
            #expect(reply.status == 200 && (reply.json["profiles"] as? [String: [String: Any]])?["CoastCable"]?["type"] as? String == "degraded")
        }
    }

    @Test(
        "rest-v2 #96 to #98: what an exchange refuses",
        arguments: [
            (status("notDetermined"), "invalid_header_pfs_permission_access_not_determined"),
            (status(end: "1899999999999"), "invalid_header_pfs_provider_info_expired"),
            (status(end: ""), "invalid_header_pfs_provider_info_expired"),
            (status(id: "unknown"), "invalid_header_pfs_provider_id_not_determined"),
            (status(id: "hill-tel"), "invalid_header_pfs_provider_id_mismatch"),
            ([:], "invalid_header_pfs_permission_access_not_present"),
        ])
    func refusals(_ status: [String: String], _ code: String) async throws {
        try await VendorParty.run { vendor in
            let app = try await vendor.app()
            let answer = try await Self.answer(vendor, try await Self.ask(vendor, app, Self.status()))
            let reply = try await Self.exchange(vendor, app, answer, status)
            #expect(reply.status == 400 && reply["code"] == code)
            #expect(try await Self.exchange(vendor, app, nil, Self.status())["code"] == "invalid_parameter_saml_response")
        }
    }
}
