import Foundation
import Testing

@testable import SandboxApple
@testable import SandboxKit
@testable import SandboxProviders
@testable import SandboxService
@testable import SandboxVendor

/// Authentication sessions and logins (rest-v2 §2.2 to §2.5).
@Suite struct VendorSessionTests {
    @Test("rest-v2 #21, #22: a whole session") func create() async throws {
        try await VendorParty.run { vendor in
            let reply = try await vendor.session(try await vendor.app())
            #expect(reply["actionName"] == "authenticate" && reply["actionType"] == "interactive" && reply["reasonType"] == "none")
            let code = try #require(reply["code"])
            #expect(code.count == 7 && reply["url"] == "/api/v2/authenticate/ACME1/\(code)" && reply["mvpd"] == "CoastCable")
            let (start, end) = (Int(try #require(reply["notBefore"])), Int(try #require(reply["notAfter"])))
            #expect((end ?? 0) - (start ?? 0) == 1_800_000)
        }
    }

    @Test("rest-v2 #23, #24: parameters that are missing") func missing() async throws {
        try await VendorParty.run { vendor in
            let app = try await vendor.app()
            let empty = try await vendor.session(app, mvpd: nil, domain: nil, redirect: nil)
            #expect(empty["actionName"] == "resume" && empty.json["missingParameters"] as? [String] == ["mvpd", "domainName", "redirectUrl"])
            let half = try await vendor.session(app, redirect: nil)
            #expect(half.json["missingParameters"] as? [String] == ["redirectUrl"] && half["mvpd"] == "CoastCable")
            #expect(half["url"] == "/api/v2/ACME1/sessions/\(half["code"] ?? "")")
            try await vendor.control(.put, "behaviour", #"{"missingDomainName": "domain"}"#)
            #expect(try await vendor.session(app, domain: nil).json["missingParameters"] as? [String] == ["domain"])
        }
    }

    @Test("rest-v2 #25 to #28: no login is needed") func ready() async throws {
        try await VendorParty.run { vendor in
            let app = try await vendor.app()
            try await vendor.signIn(app)
            let authenticated = try await vendor.session(app)
            #expect(authenticated["reasonType"] == "authenticated" && authenticated["code"] == nil)
            #expect(authenticated["actionName"] == "authorize" && authenticated["url"] == "/api/v2/ACME1/decisions/authorize/CoastCable")
            #expect(try await vendor.session(app, mvpd: "TrialUp")["reasonType"] == "temporary")
            try await vendor.control(.put, "rules", #"[{"kind": "AuthNAll", "serviceProvider": "ACME1", "mvpd": "HillTel"}]"#)
            #expect(try await vendor.session(app, mvpd: "HillTel")["reasonType"] == "degraded")
        }
    }

    @Test("rest-v2 #29 to #31: parameters that are wrong") func wrong() async throws {
        try await VendorParty.run { vendor in
            let app = try await vendor.app()
            #expect(try await vendor.session(app, mvpd: "Nobody")["code"] == "invalid_parameter_mvpd")
            try await vendor.control(.put, "integrations/ACME1/HillTel", #"{"isEnabled": false}"#)
            #expect(try await vendor.session(app, mvpd: "HillTel")["code"] == "invalid_integration")
            for address in ["not a url", "https://evil.example/", "javascript:alert(1)", "https://u@acme.example/", "/return"] {
                #expect(try await vendor.session(app, redirect: address)["code"] == "invalid_parameter_redirect_url", "\(address)")
            }
            for address in ["adobepass://ios.app", "http://127.0.0.1:28000/x", "https://a.b.acme.example/"] {
                #expect(try await vendor.session(app, redirect: address)["actionName"] == "authenticate", "\(address)")
            }
        }
    }

    @Test("rest-v2 #32, #33: resume") func resume() async throws {
        try await VendorParty.run { vendor in
            let app = try await vendor.app()
            let code = try #require(try await vendor.session(app, mvpd: nil, redirect: nil)["code"])
            let half = try await vendor.form("/api/v2/ACME1/sessions/\(code)", app.bearer, [("mvpd", "HillTel")])
            #expect(half["actionName"] == "retry" && half.json["missingParameters"] as? [String] == ["redirectUrl"])
            let fields = [("redirectUrl", VendorParty.redirect)]
            let whole = try await vendor.form("/api/v2/ACME1/sessions/\(code.lowercased())", app.bearer, fields)
            #expect(whole["actionName"] == "authenticate" && whole["code"] == code)
        }
    }

    @Test("rest-v2 #34, #35, #38: codes that are none", arguments: [("AAAAAAA", "invalid_authentication_session"), ("!!", "invalid_parameter_code")])
    func codes(_ code: String, _ error: String) async throws {
        try await VendorParty.run { vendor in
            let app = try await vendor.app()
            #expect(try await vendor.form("/api/v2/ACME1/sessions/\(code)", app.bearer, [])["code"] == error)
            #expect(try await vendor.get("/api/v2/ACME1/sessions/\(code)", app.bearer)["code"] == error)
            #expect(try await vendor.get("/api/v2/ACME1/profiles/code/\(code)", app.bearer)["code"] == error)
        }
    }

    @Test("rest-v2 #36 to #39: read, expiry, replacement") func read() async throws {
        try await VendorParty.run { vendor in
            let app = try await vendor.app()
            let info = Data(#"{"osName":"tvOS","osVersion":"17.2","type":"TV","connectionPort":4711}"#.utf8).base64EncodedString()
            let headers = ["X-Device-Info": info, "X-Forwarded-For": "198.51.100.7"]
            let code = try #require(try await vendor.session(app, mvpd: nil, headers: headers)["code"])
            let reply = try await vendor.get("/api/v2/ACME1/sessions/\(code)", app.bearer)
            let existing = try #require(reply.json["existingParameters"] as? [String: String])
            #expect(existing == ["serviceProvider": "ACME1", "domainName": "acme.example", "redirectUrl": VendorParty.redirect])
            #expect(reply.json["missingParameters"] as? [String] == ["mvpd"] && reply["notAfter"] != nil)
            let device = try #require(reply.json["device"] as? [String: Any])
            #expect(device["type"] as? String == "TV" && device["model"] is NSNull)
            let system = try #require(device["operatingSystem"] as? [String: Any])
            #expect((system["version"] as? [String: Any])?["minor"] as? Int == 2)
            let connection = try #require(device["connection"] as? [String: Any])
            #expect(connection["ipAddress"] as? String == "198.51.100.7" && connection["port"] as? String == "4711")
            let newer = try #require(try await vendor.session(app)["code"])
            #expect(try await vendor.get("/api/v2/ACME1/sessions/\(code)", app.bearer)["code"] == "invalid_authentication_session")
            vendor.clock.advance(by: .seconds(1800))
            #expect(try await vendor.get("/api/v2/ACME1/sessions/\(newer)", app.bearer)["code"] == "invalid_authentication_session")
        }
    }

    @Test("rest-v2 #40, #41: the browser's address") func authenticate() async throws {
        try await VendorParty.run { vendor in
            let app = try await vendor.app()
            let url = try #require(try await vendor.session(app)["url"])
            let start = try await vendor.get(url)
            #expect(start.status == 302 && start.headers[.location]?.hasPrefix("/mvpd/CoastCable/sign-in?state=") == true)
            let bad = try await vendor.get("/api/v2/authenticate/ACME1/AAAAAAA")
            #expect(bad.status == 400 && bad.headers[.contentType]?.hasPrefix("text/html") == true)
            let half = try await vendor.session(app, redirect: nil)
            #expect(try await vendor.get("/api/v2/authenticate/ACME1/\(half["code"] ?? "")").status == 400)
        }
    }

    @Test func aWrongPasswordShowsThePageAgain() async throws {
        try await VendorParty.run { vendor in
            let app = try await vendor.app()
            let url = try #require(try await vendor.session(app)["url"])
            let reply = try await vendor.logIn(url, as: "nobody")
            #expect(reply.status == 422 && reply.text.contains(#"id="problem""#))
            #expect(try await vendor.logIn(url, as: "eve").status == 422)
            #expect(try await vendor.profiles(app).isEmpty)
        }
    }

    @Test func aCancelledLoginLeadsBackWithoutAProfile() async throws {
        try await VendorParty.run { vendor in
            let app = try await vendor.app()
            let session = try await vendor.session(app)
            let reply = try await vendor.logIn(try #require(session["url"]), action: "cancel")
            #expect(reply.status == 302 && reply.headers[.location] == VendorParty.redirect)
            #expect(try await vendor.profiles(app, "/code/\(session["code"] ?? "")").isEmpty)
            #expect(try await vendor.logIn(try #require(session["url"])).status == 302)
            #expect(try await vendor.profiles(app, "/code/\(session["code"] ?? "")").count == 1)
        }
    }

    @Test("rest-v2 #110: one login for a code") func oneLogin() async throws {
        try await VendorParty.run { vendor in
            let app = try await vendor.app()
            let code = try await vendor.signIn(app)
            let reply = try await vendor.form("/api/v2/ACME1/sessions/\(code)", app.bearer, [])
            #expect(reply["actionName"] == "authorize" && reply["code"] == code)
            #expect(try await vendor.get("/api/v2/authenticate/ACME1/\(code)").status == 400)
        }
    }

    @Test("rest-v2 #111: AuthNAll between session and browser") func degradedAtTheBrowser() async throws {
        try await VendorParty.run { vendor in
            let app = try await vendor.app()
            let session = try await vendor.session(app)
            try await vendor.control(.put, "rules", #"[{"kind": "AuthNAll", "serviceProvider": "ACME1", "mvpd": "CoastCable"}]"#)
            let reply = try await vendor.get(try #require(session["url"]))
            #expect(reply.status == 302 && reply.headers[.location] == VendorParty.redirect)
            #expect(try await vendor.profiles(app, "/code/\(session["code"] ?? "")")["CoastCable"]?["type"] as? String == "degraded")
        }
    }

    @Test("bridge B42: a server that is strict about domains") func strictDomains() async throws {
        try await VendorParty.run { vendor in
            let app = try await vendor.app()
            #expect(try await vendor.session(app, domain: "adobe.com")["actionName"] == "authenticate")
            try await vendor.control(.put, "behaviour", #"{"strictDomains": true}"#)
            let refused = try await vendor.session(app, domain: "adobe.com")
            #expect(refused["actionName"] == "resume" && refused.json["missingParameters"] as? [String] == ["domainName"])
            #expect(try await vendor.session(app, domain: "https://www.acme.example/tv")["actionName"] == "authenticate")
        }
    }

    @Test func theLifeOfASessionCanBeSet() async throws {
        try await VendorParty.run { vendor in
            let app = try await vendor.app()
            try await vendor.control(.put, "behaviour", #"{"sessionSeconds": 60, "sessionURLPrefix": "https://sp.upstream.example"}"#)
            let session = try await vendor.session(app)
            #expect(session["url"]?.hasPrefix("https://sp.upstream.example/api/v2/authenticate/ACME1/") == true)
            vendor.clock.advance(by: .seconds(60))
            #expect(try await vendor.get("/api/v2/authenticate/ACME1/\(session["code"] ?? "")").status == 400)
        }
    }
}
