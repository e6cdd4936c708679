@testable import ClusterCommands
import Foundation
import Testing

extension MvpdTests {
    /// Sign-ins at an independent OpenID provider (mvpd §3, §5).
    @Suite("An independent OpenID provider", .serialized)
    struct OpenIDPeerTests {
        @Test(
            "mvpd #20: a person signs in at glewlwyd by code, PKCE and nonce; its id_token verifies by its published keys",
            .enabled(if: PeerServer.Kind.glewlwyd.isInstalled, "glewlwyd is not installed"))
        func signsIn() async throws {
            try await atProvider { peer, mvpd in
                let device = try await Device.make()
                var browser = OAuthBrowser(device)
                let callback = try await logIn(&browser, mvpd, at: peer)
                let answer = try await browser.load("GET", callback)
                #expect(answer.status == 302 && answer.header("location") == device.end, "\(answer.status) \(answer.text)")
                #expect(try await device.checkAuthn() == 200)
                #expect(try await device.authnToken().object["mvpd"] as? String == mvpd)
                let metadata = try await device.get("/api/v1/tokens/usermetadata")
                #expect(metadata.text.contains("house-ada"), "\(metadata.text)")
                #expect(try await device.authorize("ACME1-NEWS").status == 200)
                #expect(try await browser.load("GET", callback).status == 400, "an answer counts once")
            }
        }

        @Test(
            "mvpd #20: a code that the provider did not give makes no session",
            .enabled(if: PeerServer.Kind.glewlwyd.isInstalled, "glewlwyd is not installed"))
        func changedCode() async throws {
            try await atProvider { peer, mvpd in
                let device = try await Device.make()
                var browser = OAuthBrowser(device)
                let callback = try await logIn(&browser, mvpd, at: peer)
                let changed = callback.replacing(/code=[^&]*/, with: "code=guessed")
                try #require(changed != callback)
                let answer = try await browser.load("GET", changed)
                // It answers 403 `invalid_code`, which RFC 6749 §5.2 does not define: the service treats that as a broken provider.
                #expect(answer.status == 503 && answer.header("location") == nil, "\(answer.status) \(answer.text)")
                #expect(try await device.checkAuthn() == 403)
            }
        }

        @Test(
            "RP-Initiated Logout §2, §3: glewlwyd knows by the id_token whom to sign out, and our address leads from there to the app",
            .enabled(if: PeerServer.Kind.glewlwyd.isInstalled, "glewlwyd is not installed"))
        func logsOut() async throws {
            try await atProvider { peer, mvpd in
                let device = try await Device.make()
                var browser = OAuthBrowser(device)
                _ = try await browser.load("GET", try await logIn(&browser, mvpd, at: peer))
                let visit = try await device.get("/api/v1/logout", ["redirect_url": device.end]).location()
                let request = try #require(try await browser.load("GET", visit).header("location"))
                #expect(request.hasPrefix("\(peer.address)/api/op/end_session?id_token_hint="), "\(request)")
                let answer = try await browser.load("GET", request)
                let page = try #require(answer.header("location"), "\(answer.status) \(answer.text)")
                #expect(page.contains("client_id=boxoffice") && page.contains("prompt=end_session"), "\(page)")
                let unknown = try await browser.load("GET", request.replacing(/id_token_hint=[^&]*/, with: "id_token_hint=a.b.c"))
                #expect(unknown.header("location")?.contains("client_id=boxoffice") == false, "a hint of nobody names no client")
                // Its page, a script, ends the session and then opens the address that it was given.
                let queries = try #require(URLComponents(string: request)?.queryItems)
                func sent(_ name: String) throws -> String { try #require(queries.first { $0.name == name }?.value) }
                let end = try await browser.load("GET", "\(try sent("post_logout_redirect_uri"))?state=\(try sent("state"))")
                #expect(end.status == 302 && end.header("location") == device.end, "\(end.status) \(end.text)")
                #expect(try await device.checkAuthn() == 403)
            }
        }

        /// Signs in as the provider's own pages do, which are scripts: by its API.
        /// - Returns: Our callback, with the code.
        private func logIn(_ browser: inout OAuthBrowser, _ mvpd: String, at peer: PeerServer) async throws -> String {
            let start = try await browser.start(try await browser.device.code(), mvpd: mvpd)
            #expect(start.hasPrefix("\(peer.address)/api/op/auth?"), "\(start)")
            let asked = try await browser.load("GET", start)
            try #require(asked.header("location")?.contains("login.html") == true, "\(asked.status) \(asked.text)")
            let person = #"{"username": "ada", "password": "ada"}"#
            try #require(try await browser.load("POST", "\(peer.address)/api/auth/", body: person, as: "application/json").status == 200)
            let consent = #"{"scope": "openid"}"#
            let granted = try await browser.load("PUT", "\(peer.address)/api/auth/grant/boxoffice", body: consent, as: "application/json")
            try #require(granted.status == 200, "\(granted.text)")
            let answer = try await browser.load("GET", start + "&g_continue")
            return try #require(answer.header("location"), "\(answer.status) \(answer.text)")
        }

        private func atProvider(_ body: (PeerServer, String) async throws -> Void) async throws {
            let mvpd = "Open\(UUID().uuidString.prefix(8))"
            let peer = try await PeerServer.start(.glewlwyd, PeerVariant(), mvpd: mvpd)
            do {
                try await add(peer, as: mvpd)
                try await body(peer, mvpd)
            } catch {
                Issue.record("\(error)\n\(peer.log.suffix(4000))")
            }
            try await peer.stop()
        }

        private func add(_ peer: PeerServer, as mvpd: String) async throws {
            let local = try await Administrator.fresh()
            let secret = LocalPki(folder: local.cluster.home.pki).path("glewlwyd.secret")
            try Data(PeerServer.clientSecret.utf8).write(to: URL(fileURLWithPath: secret))
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: secret)
            let base = "\(peer.address)/api/op"
            let entry: [String: Any] = [
                "id": mvpd, "displayName": mvpd, "authzTtl": 3600, "authorization": ["protocol": "none"],
                "oauth": [
                    "issuer": base, "authorizeUrl": "\(base)/auth", "tokenUrl": "\(base)/token", "profileUrl": "\(base)/userinfo",
                    "jwksUrl": "\(base)/jwks", "logoutUrl": "\(base)/end_session", "logoutReturn": "own",
                    "clientId": "boxoffice", "clientSecretReference": "glewlwyd", "clientAuthentication": "basic", "scopes": ["openid"],
                    "attributeMap": [["source": "name", "target": "householdID"]],
                ] as [String: Any],
            ]
            let created = try await local.send("POST", "/mvpds", entry)
            try #require(created.status == 201, "\(created.text)")
            let integrated = try await local.send("POST", "/integrations", ["requestor": "ACME1", "mvpd": mvpd, "metadataKeys": ["householdID"]])
            try #require(integrated.status == 201, "\(integrated.text)")
            try await publish("an independent OpenID provider", local)
        }
    }
}
