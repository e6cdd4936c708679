@testable import ClusterCommands
@testable import Simulation
import Foundation
import Testing
import TextEncodings

extension RestV1Tests {
    /// mvpd §3 over HTTP, with the sandbox as the provider. The cases follow each other: they command one provider.
    @Suite("OAuth providers", .serialized)
    struct OAuthTests {
        private func expectNoSession(_ device: Device, _ callback: String, _ browser: OAuthBrowser, status: Int = 400) async throws {
            var browser = browser
            let answer = try await browser.load("GET", callback)
            #expect(answer.status == status && answer.header("location") == nil, "\(answer.text)")
            #expect(try await device.checkAuthn() == 403)
        }

        @Test("mvpd §3: a person signs in at an OpenID provider, and the device may play")
        func signIn() async throws {
            let device = try await Device.make()
            let code = try await device.code()
            var browser = OAuthBrowser(device)
            let address = try await browser.start(code)
            let places = device.cluster.standIns
            #expect(address.hasPrefix("\(places.sandbox)/oauth/OpenFiber/authorize?") && address.contains("code_challenge_method=S256"))
            let callback = try await browser.logIn(at: address, as: "ada")
            #expect(callback.hasPrefix("\(places.gateway)/adobe-services/oauth2/OpenFiber?"))
            let answer = try await browser.finish(callback)
            #expect(answer.status == 302 && answer.header("location") == device.end, "\(answer.text)")
            #expect(try await device.checkAuthn() == 200)
            #expect(try await device.checkAuthn(code: code) == 200)
            #expect(try await device.authnToken().object["mvpd"] as? String == "OpenFiber")
            let metadata = try await device.get("/api/v1/tokens/usermetadata")
            #expect(metadata.status == 200 && metadata.text.contains("household-"), "\(metadata.text)")
            #expect(try await device.authorize("ACME1-NEWS").status == 200)
        }

        @Test("mvpd §3: boxoffice device signs in there as at any other MVPD, and the activation page shows it")
        func commandLine() async throws {
            let device = try await Device.make()
            try await device.signInByOAuth()
            let code = try await device.code()
            let page = try await device.cluster.exchange.send(
                "GET", "\(device.cluster.gateway)/activate/providers?code=\(code)", headers: [("Accept", "text/html")])
            #expect(page.status == 200 && page.text.contains("Open Fiber"), "\(page.text)")
        }

        @Test("mvpd #91: a foreign state, another browser and a callback that is sent again give no session")
        func wrongBrowser() async throws {
            let device = try await Device.make()
            var browser = OAuthBrowser(device)
            let address = try await browser.start(device.code())
            let callback = try await browser.logIn(at: address, as: "ada")
            try await expectNoSession(device, callback.replacing(/state=[^&]*/, with: "state=guessed"), browser)
            try await expectNoSession(device, callback, OAuthBrowser(device))
            #expect(try await browser.load("GET", callback).status == 302)
            #expect(try await browser.load("GET", callback).status == 400)
            let other = try await Device.make()
            var second = OAuthBrowser(other)
            let start = try await second.start(other.code())
            let mine = try await second.logIn(at: start, as: "ben")
            let used = try #require(callback.firstMatch(of: /code=[^&]*/))
            try await expectNoSession(other, mine.replacing(/code=[^&]*/, with: String(used.0)), second)
        }

        @Test(
            "mvpd #91: an id_token that does not hold gives no session",
            arguments: ["unsigned", "symmetric", "foreignAudience", "foreignIssuer", "wrongNonce", "expired", "foreignKey"])
        func badIdentityToken(_ flaw: String) async throws {
            let device = try await Device.make()
            let control = OAuthControl(cluster: device.cluster)
            try await control.behave(#""identityToken": "\#(flaw)""#)
            var browser = OAuthBrowser(device)
            let address = try await browser.start(device.code())
            let callback = try await browser.logIn(at: address, as: "ada")
            try await expectNoSession(device, callback, browser)
            try await control.behave()
        }

        @Test("mvpd §3: keys that the provider rotated are found; without an id_token the profile serves")
        func rotatedKeys() async throws {
            let device = try await Device.make()
            let control = OAuthControl(cluster: device.cluster)
            try await device.signInByOAuth()
            try await control.rotateKeys()
            try await (try await Device.make()).signInByOAuth()
            try await control.rotateKeys()
            try await control.behave(#""identityToken": "absent""#)
            try await (try await Device.make()).signInByOAuth()
            try await control.behave()
        }

        @Test("mvpd #92: decisions go on while refresh tokens rotate; a refused one means that the person signs in again")
        func refreshTokens() async throws {
            let device = try await Device.make()
            let control = OAuthControl(cluster: device.cluster)
            // So short that each decision needs a new one.
            try await control.behave(#""accessTokenSeconds": 5, "rotatesRefreshTokens": true"#)
            try await device.signInByOAuth()
            for resource in ["ACME1-NEWS", "ACME1-SPORT", "ACME1-KIDS"] {
                let answer = try await device.authorize(resource)
                #expect(answer.status == 200, "\(answer.text)")
            }
            try await control.behave(#""accessTokenSeconds": 5, "refusesRefreshTokens": true"#)
            let other = try await Device.make()
            try await other.signInByOAuth()
            let refused = try await other.authorize("ACME1-NEWS")
            #expect(refused.status == 403, "\(refused.text)")
            try await control.behave()
            // Upstream asks nobody while it knows somebody on the device: through a bridge the person signs out first (NP7).
            if other.cluster.isBridge { #expect(try await other.logout() == 204) }
            try await other.signInByOAuth()
            #expect(try await other.authorize("ACME1-NEWS").status == 200)
        }

        @Test("mvpd §3: a logout visits the provider with the id_token, comes back to our address with state, and ends at the app")
        func logout() async throws {
            let device = try await Device.make()
            var browser = OAuthBrowser(device)
            let address = try await browser.start(device.code())
            _ = try await browser.finish(try await browser.logIn(at: address, as: "ada"))
            try #require(try await device.checkAuthn() == 200)
            let visit = try await device.get("/api/v1/logout", ["redirect_url": device.end]).location()
            let request = try #require(try await browser.load("GET", visit).header("location"))
            let sent = Dictionary(
                uniqueKeysWithValues: try #require(URLComponents(string: request)?.queryItems).map { ($0.name, $0.value ?? "") })
            #expect(sent["id_token_hint"]?.split(separator: ".").count == 3 && sent["client_id"] == "boxoffice")
            let gateway = device.cluster.standIns.gateway
            #expect(sent["post_logout_redirect_uri"] == "\(gateway)/adobe-services/logout/oauth")
            let back = try #require(try await browser.load("GET", request).header("location"))
            #expect(back == "\(gateway)/adobe-services/logout/oauth?state=\(sent["state"] ?? "")")
            #expect(
                try await MvpdTests.sandboxEntry("logout", "OpenFiber")["fields"] as? [String: String] == ["client": "boxoffice", "hint": "id_token"])
            var end = try await browser.load("GET", back)
            // A bridge has the browser come back to it.
            if device.cluster.isBridge { end = try await browser.load("GET", try end.location()) }
            #expect(end.status == 302 && end.header("location") == device.end, "\(end.status) \(end.text)")
            #expect(try await device.checkAuthn() == 403)
            // The provider asks for a password again.
            let again = try await browser.start(device.code())
            #expect(try await browser.load("GET", again).status == 200)
        }

        @Test("mvpd §3: a person who cancels goes back without a session")
        func cancelled() async throws {
            let device = try await Device.make()
            var browser = OAuthBrowser(device)
            let address = try await browser.start(device.code())
            let callback = try await browser.logIn(at: address, as: "ada", cancel: true)
            let answer = try await browser.finish(callback)
            #expect(answer.status == 302 && answer.header("location") == device.end)
            #expect(try await device.checkAuthn() == 403)
        }

        @Test(
            "mvpd §3: a provider that hangs gives a 503 in time, and the sign-ins at other MVPDs go on meanwhile", .tags(.timing), .onReleasePrograms)
        func hanging() async throws {
            let device = try await Device.make()
            let control = OAuthControl(cluster: device.cluster)
            try await control.behave(#""mode": "hang", "endpoint": "token""#)
            var browser = OAuthBrowser(device)
            let address = try await browser.start(device.code())
            let callback = try await browser.logIn(at: address, as: "ada")
            let clock = ContinuousClock()
            let begin = clock.now
            async let stuck: Void = expectNoSession(device, callback, browser, status: 503)
            try await (try await Device.make()).signIn()
            #expect(begin.duration(to: clock.now) < .seconds(2.9))
            try await stuck
            #expect(begin.duration(to: clock.now) < .seconds(6))
            try await control.behave()
        }
    }
}

extension Device {
    /// A person signs this device in at the OAuth provider, as the command line does it.
    func signInByOAuth(as name: String = "ada") async throws {
        let query = FormEncoding.encode(signInParameters(try await code(), mvpd: "OpenFiber").map { ($0.key, $0.value) })
        var person = SimulatedPerson(exchange: cluster.exchange)
        let last = try await person.signIn(at: "\(cluster.gateway)/api/v1/authenticate?\(query)", name: name, password: name, until: end)
        #expect(last == end)
        #expect(try await checkAuthn() == 200)
    }
}
