@testable import ClusterCommands
@testable import CommandKit
@testable import Tokens
import Foundation
import Testing

extension RestV1Tests {
    /// The requests and answers of clients of family W (Shared/Documents/Specs/clients.md §3, §7).
    @Suite("Clients on the web SDK's calls")
    struct WebSdkTests {
        /// FastChannels, October 2026: polls by the code, a fingerprint that it keeps, `generic_data` on two calls.
        @Test("clients #37, #50: polling is 401 until a person has signed in; then a session, a permit and a media token in clear")
        func whole() async throws {
            let app = try await SdkApp.web()
            let code = try await app.code()
            for _ in 1...2 {
                let early = try await app.session(code)
                #expect(early.status == 401 && early.text.contains("Data not found"), "\(early.text)")
            }
            try await app.signIn(code)
            let session = try await app.session(code)
            let token = try session.storedToken("authnToken")
            #expect(try session.storedToken("userMeta").contains("\"userID\""))
            #expect(token.content(of: "simpleTokenMsoID") == "NorthCable" && token.content(of: "simpleTokenRequestorID") == "ACME1")
            let guid = try #require(token.content(of: "simpleTokenAuthenticationGuid"))
            #expect(guid.count == 64 && token.content(of: "simpleSamlNameID") == guid && !token.contains(app.deviceID) && !token.contains("\n"))
            #expect(token.content(of: "simpleSamlSessionIndex")?.isEmpty == false)
            let decided = try await app.authorize(token, more: [("generic_data", ""), ("userMeta", "1")])
            let permit = try decided.storedToken("authzToken")
            #expect(try decided.storedToken("userMeta").contains("\"data\""))
            #expect(try await !app.authorize(token).text.contains("userMeta"))
            #expect(permit.content(of: "simpleTokenResourceID") == "ACME1-NEWS" && permit.content(of: "simpleTokenTTL") != nil)
            let media = try await app.shortAuthorize(permit, guid: guid)
            #expect(media.status == 200 && media.text.hasPrefix("<signatureInfo>") && media.header("content-type") == "text/xml; charset=utf-8")
            #expect(try app.verdict(media) == .valid)
        }

        @Test(
            "clients #35, #43: a kept token alone is enough; after a logout, of another house, or cut, the app is to sign in again, and nothing else")
        func keptTokens() async throws {
            var app = try await SdkApp.web()
            let token = try await app.signedIn()
            let permit = try await app.permit(token)
            // yt-dlp with a cached token: no bearer, no device.
            let bearer = app.bearer
            app.bearer = nil
            #expect(try app.verdict(try await app.shortAuthorize(try await app.permit(token))) == .valid)
            let foreign =
                "<signatureInfo>\(Data(repeating: 7, count: 128).base64EncodedString())</signatureInfo>"
                + (token.components(separatedBy: "</signatureInfo>").last ?? "")
            for wrong in [foreign, token.replacingOccurrences(of: "NorthCable", with: "SouthTel"), String(token.dropLast()), "token", token + "x"] {
                let answer = try await app.authorize(wrong)
                #expect(answer.isPendingLogout, "\(answer.status) \(answer.text)")
            }
            #expect(try await app.shortAuthorize(permit.replacingOccurrences(of: "ACME1-NEWS", with: "ACME1-SPORT")).isPendingLogout)
            app.bearer = bearer
            let device = Device(cluster: app.cluster, requestor: "ACME1", id: app.deviceID, accessToken: bearer ?? "")
            #expect(try await device.checkAuthn() == 200, "one session, whichever calls ask")
            #expect(try await device.logout() == 204)
            for without in [true, false] {
                app.bearer = without ? nil : bearer
                #expect(try await app.authorize(token).isPendingLogout)
                #expect(try await app.shortAuthorize(permit).isPendingLogout)
            }
            app.bearer = bearer
            let again = try await app.signedIn()
            #expect(try app.verdict(try await app.shortAuthorize(try await app.permit(again))) == .valid)
            #expect(try await app.authorize(token).isPendingLogout, "the session from before stays over")
        }

        @Test("clients #42: what can be no token is 400; another caller with a right code gets none")
        func malformed() async throws {
            let app = try await SdkApp.web()
            let code = try await app.code()
            try await app.signIn(code)
            let token = try (try await app.session(code)).storedToken("authnToken")
            let permit = try await app.permit(token)
            #expect(try await app.authorize(permit).status == 400, "the other kind")
            #expect(try await app.shortAuthorize(token).status == 400)
            #expect(try await app.shortAuthorize("<!DOCTYPE a>" + permit).status == 400)
            #expect(try await app.authorize("<!DOCTYPE a [<!ENTITY b SYSTEM \"file:///etc/passwd\">]>" + token).status == 400)
            #expect(try await app.authorize("").status == 400)
            #expect(try await app.authorize(String(repeating: "a", count: 40_000)).status == 400)
            let huge = String(repeating: "a", count: 1 << 20)
            #expect(try await app.authorize(huge).status == 400)
            #expect(try await app.shortAuthorize(huge).status == 400)
            // A second client of the same application, with the code as it stands on a screen.
            var other = try await SdkApp.web()
            other.deviceID = app.deviceID
            #expect(try await other.session(code).status == 401)
            #expect(try await app.session(code).status == 200)
        }

        @Test("clients #36, #44: the MVPD's and the operator's words are told; a rule bites a kept permit at once")
        func denials() async throws {
            let app = try await SdkApp.web()
            let token = try await app.signedIn(as: "ben")
            let denied = try await app.authorize(token, "ACME1-SPORT")
            #expect(denied.status == 200 && denied.text.contains("<error><notAuthorized></notAuthorized>"), "\(denied.text)")
            #expect(denied.element("details") == "Add ACME1-SPORT to your package to watch it")
            let cleo = try await SdkApp.web()
            #expect(try await cleo.authorize(try await cleo.signedIn(as: "cleo")).element("details")?.isEmpty == false)
            let permit = try await app.permit(token)
            try await DegradationControl.running().during("AuthZNone", at: "ACME1", resources: ["ACME1-NEWS"], message: "Back at noon") {
                try await Condition.wait("the rule counts") { try await app.authorize(token).element("details") == "Back at noon" }
                let kept = try await app.shortAuthorize(permit)
                #expect(kept.status == 200 && kept.element("details") == "Back at noon", "\(kept.text)")
            }
            try await Condition.wait("the permit counts again") { try app.verdict(try await app.shortAuthorize(permit)) == .valid }
        }

        @Test("clients #44: after five denials within ten seconds the MVPD is not asked again, through this door too")
        func cutOff() async throws {
            let (app, sandbox) = (try await SdkApp.web(), try SandboxControl.running())
            let token = try await app.signedIn(as: "ben")
            let before = try await sandbox.decisions()
            for _ in 0..<5 { #expect(try await app.authorize(token, "ACME1-SPORT").text.contains("<notAuthorized>")) }
            let asked = try await sandbox.decisions()
            let sixth = try await app.authorize(token, "ACME1-SPORT")
            #expect(asked == before + 5 && sixth.status == 200 && sixth.text.contains("<notAuthorized>"), "\(sixth.text)")
            #expect(sixth.element("details") == "Add ACME1-SPORT to your package to watch it")
            #expect(try await sandbox.decisions() == asked)
        }

        @Test("clients #44: a TempPass through this door")
        func tempPass() async throws {
            let app = try await SdkApp.web()
            let code = try await app.code()
            var browser = Browser(exchange: app.cluster.exchange)
            #expect(try await browser.visit(app.authenticate(code, mvpd: "Preview10")).header("location") == app.end)
            let token = try (try await app.session(code)).storedToken("authnToken")
            #expect(token.content(of: "simpleTokenMsoID") == "Preview10")
            let permit = try (try await app.authorize(token, mvpd: "Preview10")).storedToken("authzToken")
            #expect(try app.verdict(try await app.shortAuthorize(permit)) == .valid)
        }

        @Test(
            "clients #38: an MVPD that is not integrated, or whose integration is off, sends the person back, where that is allowed",
            arguments: [("ACME2", "ParkedTV"), ("ACME1", "ParkedTV"), ("ACME1", "NoSuchMvpd")])
        func unusableMvpd(requestor: String, mvpd: String) async throws {
            let app = try await SdkApp.web(requestor)
            var browser = Browser(exchange: app.cluster.exchange)
            let code = try await app.code()
            let answer = try await browser.visit(app.authenticate(code, mvpd: mvpd))
            #expect(answer.status == 302 && answer.header("location") == app.end, "\(answer.status) \(answer.text)")
            #expect(try await browser.visit(app.authenticate(code, mvpd: mvpd, returning: "https://evil.example/")).status == 400)
            #expect(try await app.session(code).status == 401)
        }

        @Test("clients #39, #40: one id for one application and fingerprint, or for a seal of ours; other ids for all others")
        func devices() async throws {
            func id(_ answer: HTTPAnswer) throws -> String {
                try #require(answer.status == 200, "\(answer.text)")
                return try #require(answer.object["deviceId"] as? String)
            }
            let fingerprint = SdkApp.fingerprint()
            let (one, two) = (try await Client.register("acme-tv").accessToken(), try await Client.register("acme-tv").accessToken())
            let first = try await SdkApp.identify(fingerprint, bearer: one)
            let own = try id(first)
            #expect(try id(try await SdkApp.identify(fingerprint, bearer: two)) == own)
            let cookie = try #require(first.header("set-cookie"))
            #expect(cookie.hasPrefix("pass_sfp=") && cookie.contains("Secure") && cookie.contains("SameSite=None"))
            let old = try await SdkApp.identify(
                fingerprint, agent: "Mozilla/5.0 (Web0S) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/53.0.2785.34 Safari/537.36")
            #expect(old.header("set-cookie")?.hasSuffix("; HttpOnly; Secure") == true, "a browser that drops SameSite=None gets none")
            let seal = try #require(first.header("pass_sfp"))
            #expect(!seal.contains(own))
            #expect(try id(try await SdkApp.identify("anything", seal: seal)) == own)
            #expect(try id(try await SdkApp.identify("anything", cookie: seal)) == own)
            var others: Set<String> = [own]
            let bravo = try await Client.register("bravo-tv").accessToken()
            for answer in [
                try await SdkApp.identify(fingerprint, bearer: bravo), try await SdkApp.identify(SdkApp.fingerprint(), bearer: one),
                try await SdkApp.identify(fingerprint), try await SdkApp.identify("short", bearer: one),
                try await SdkApp.identify("short", bearer: one),
                try await SdkApp.identify(fingerprint, seal: "x" + seal),
                try await SdkApp.identify(fingerprint, seal: String(repeating: "A", count: 3000)),
            ] { #expect(others.insert(try id(answer)).inserted) }
            #expect(try await SdkApp.identify(fingerprint, bearer: "wrong").status == 401)
            #expect(try await SdkApp.identify("").status == 400)
            #expect(try await SdkApp.identify(String(repeating: "f", count: 513)).status == 400)
            let cluster = try TestCluster.running()
            for body in ["", "{}", "[]", "{\"fingerprint\": 7}", "nonsense", "{\"fingerprint\": \"" + String(repeating: "f", count: 1 << 20) + "\"}"]
            {
                #expect(
                    try await cluster.send(Call("POST", "/indiv/devices", headers: ["Content-Type": "application/json"], body: body)).status == 400)
            }
        }

        @Test("clients #45: two people on one device: the later sign-in ends the token of the one before")
        func twoPeople() async throws {
            let app = try await SdkApp.web()
            let ada = try await app.signedIn()
            if app.cluster.isBridge {
                // Upstream asks nobody for a password while it knows somebody on the device: who is to be another signs out first (NP7).
                let code = try await app.code()
                var browser = Browser(exchange: app.cluster.exchange)
                #expect(try await browser.visit(app.authenticate(code, mvpd: "NorthCable")).header("location") == app.end)
                let again = try (try await app.session(code)).storedToken("authnToken")
                #expect(again.content(of: "simpleTokenAuthenticationGuid") == ada.content(of: "simpleTokenAuthenticationGuid"))
                let device = Device(cluster: app.cluster, requestor: "ACME1", id: app.deviceID, accessToken: app.bearer ?? "")
                #expect(try await device.logout() == 204)
            }
            let ben = try await app.signedIn(as: "ben")
            #expect(ada.content(of: "simpleTokenAuthenticationGuid") != ben.content(of: "simpleTokenAuthenticationGuid"))
            #expect(try await app.authorize(ada).isPendingLogout)
            #expect(try await app.authorize(ben).text.contains("authzToken"))
        }

        @Test("clients #41: each field of the tokens, which the published keys verify; a resource comes back as it was sent")
        func tokens() async throws {
            let app = try await SdkApp.web()
            let token = try await app.signedIn()
            let published = try await app.cluster.send(Call("GET", "/.well-known/sdk-token-keys"))
            #expect(published.header("content-type") == "application/jwk-set+json")
            let keys = try JSONWebKeySet(json: published.text).keys
            #expect(keys.count == 2 && Set(keys.map(\.identifier)).count == 2)
            /// The key that has signed it.
            func signer(_ text: String) throws -> String? {
                let parts = text.components(separatedBy: "</signatureInfo>")
                try #require(parts.count == 2 && parts[0].hasPrefix("<signatureInfo>"))
                let signature = try #require(Data(base64Encoded: String(parts[0].dropFirst("<signatureInfo>".count))))
                return keys.first { $0.isValid(Array(signature), for: Array(parts[1].utf8), by: .es256) }?.identifier
            }
            /// As yt-dlp and the add-on of ESPN read it.
            func isAhead(_ text: String?, by seconds: Double = 0) -> Bool {
                let format = DateFormatter()
                format.locale = Locale(identifier: "en_US_POSIX")
                format.dateFormat = "yyyy/MM/dd HH:mm:ss 'GMT' Z"
                return format.date(from: text ?? "").map { $0.timeIntervalSinceNow > seconds } ?? false
            }
            let device = Device(cluster: app.cluster, requestor: "ACME1", id: app.deviceID, accessToken: app.bearer ?? "")
            let user = try #require(try await device.authnToken().object["userId"] as? String)
            func content(_ name: String, of text: String) -> String? { text.content(of: name).map(HTTPAnswer.unescaped) }
            let handle = content("simpleSamlSessionIndex", of: token)
            let fields = [
                ("simpleTokenRequestorID", "ACME1"), ("simpleTokenDomainName", "adobe.com"), ("simpleTokenMsoID", "NorthCable"),
                ("simpleTokenAuthenticationGuid", user), ("simpleSamlNameID", user),
            ]
            for (name, value) in fields { #expect(content(name, of: token) == value, "\(name)") }
            #expect(handle?.isEmpty == false && content("simpleTokenFingerprint", of: token)?.count == 64)
            #expect(isAhead(content("simpleTokenExpires", of: token), by: 86_400) && !token.contains(app.deviceID))

            let rss = "<rss version=\"2.0\"><channel><title>ACME1-NEWS</title><item><title>a &amp; b = c, d</title></item></channel></rss>"
            var permits: [String] = []
            for wanted in ["ACME1 & <news> \"q\" 'a' ü日本", "ACME1</simpleTokenResourceID>", rss] {
                // The MVPD carries no such channels.
                try await SandboxControl.running().shapeNextAnswer(#""decision": "Permit""#)
                let permit = try (try await app.authorize(token, wanted)).storedToken("authzToken")
                let fields = [("simpleTokenResourceID", wanted), ("simpleTokenRequestorID", "ACME1"), ("simpleTokenMsoID", "NorthCable")]
                for (name, value) in fields { #expect(content(name, of: permit) == value, "\(name)") }
                #expect(content("simpleTokenAuthenticationGuid", of: permit) == user)
                let handle = try #require(content("simpleSamlSessionIndex", of: permit))
                #expect(!handle.isEmpty && !handle.contains(app.deviceID) && !handle.contains(user), "it is opaque")
                permits.append(permit)
                #expect(permit.content(of: "simpleTokenDeviceID")?.isEmpty == false && isAhead(content("simpleTokenTTL", of: permit)))
                #expect(try app.verdict(try await app.shortAuthorize(permit), wanted) == .valid)
                let signers = [try signer(token), try signer(permit)]
                #expect(signers.allSatisfy { $0 != nil } && signers[0] != signers[1], "each kind has a key of its own")
            }
            // Each handle is sealed anew, and all of them name the session that the permits end with.
            var alone = app
            alone.bearer = nil
            for permit in permits { #expect(try await alone.shortAuthorize(permit).text.hasPrefix("<signatureInfo>")) }
            #expect(try await device.logout() == 204)
            for permit in permits { #expect(try await alone.shortAuthorize(permit).isPendingLogout) }
        }

        @Test("clients #27, #51, #52, #53: older addresses, two slashes, and calls that are not served")
        func addresses() async throws {
            let app = try await SdkApp.web()
            let cluster = app.cluster
            let code = try await app.code()
            try await app.signIn(code)
            let token = try (try await app.post("1.0/session", [("_method", "GET"), ("reg_code", code)])).storedToken("authnToken")
            #expect(
                try await app.post("1.0/authorize", [("authentication_token", token), ("resource_id", "ACME1-NEWS")]).text.contains("authzToken"))
            var native = app
            native.bearer = nil
            for call in ["session", "authorize", "shortAuthorize", "preauthorize"] {
                let gone = try await native.post("1.0/\(call)", [("signed_requestor_id", "x")])
                #expect(gone.status == 410 && gone.text.contains("first native SDKs"), "\(call): \(gone.status)")
            }
            #expect(try await cluster.send(Call("GET", "/adobe-services/1.0/authenticate/saml", query: ["requestor_id": "ACME1"])).status == 410)
            for path in ["config/ACME1", "config/ACME1.json", "1.0/config/ACME1", "1.0/config/ACME1.xml"] {
                let list = try await cluster.send(Call("GET", "/adobe-services/\(path)"))
                #expect(list.status == 200 && list.isXML && list.text.contains("NorthCable"), "\(path): \(list.status)")
            }
            #expect(try await cluster.send(Call("GET", "/adobe-services/config/ACME1.json", headers: ["Accept": "application/json"])).isJSON)
            let doubled = try await cluster.exchange.send("POST", "\(cluster.gateway)//adobe-services/1.0/session?x=1", body: "")
            #expect(doubled.status == 308 && doubled.header("location") == "/adobe-services/1.0/session?x=1")
            for path in ["///adobe-services/session", "//api/v1/checkauthn", "//evil.example/adobe-services/session", "/adobe-services//session"] {
                #expect(try await cluster.exchange.send("POST", "\(cluster.gateway)\(path)", body: "").status == 404, "\(path)")
            }
            for path in ["/adobe-services/sessionX", "/indiv/other", "/entitlement/v4/x"] {
                let answer = try await cluster.send(Call("POST", path, body: ""))
                #expect(answer.status == 404 && answer.isXML, "\(path): \(answer.status) \(answer.text)")
            }
        }

        @Test("clients #70: with a code from a screen a signed request gets no token here, nor does a request without a bearer")
        func shoulder() async throws {
            let app = try await SdkApp.web()
            let code = try await app.code()
            try await app.signIn(code)
            let signing = try SigningApp()
            let fields = "requestor_id=ACME1&reg_code=\(code)&device_id=\(app.deviceID)"
            for call in ["session", "sessionDevice"] {
                let signed = try await signing.send(
                    "POST", "/adobe-services/\(call)", header: signing.header("POST", "/adobe-services/\(call)"), body: fields)
                #expect(signed.status == 401 && !signed.text.contains("Token<"))
                #expect(
                    try await app.cluster.send(Call.form("/adobe-services/\(call)", [("requestor_id", "ACME1"), ("reg_code", code)])).status == 401)
            }
        }
    }
}
