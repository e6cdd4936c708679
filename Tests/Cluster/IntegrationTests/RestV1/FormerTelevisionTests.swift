@testable import ClusterCommands
@testable import CommandKit
import Foundation
import Testing
import TextEncodings

extension RestV1Tests {
    /// More clients of family S, by their own order and spelling of calls (Shared/Documents/Specs/clients.md §0, §7).
    @Suite("Televisions of the past that sign")
    struct FormerTelevisionTests {
        /// `AdobeActivateApi` of Kodi's ESPN add-on, 2017: an Apple TV by its `User-Agent`, everything in the query, a session told by the code.
        ///
        /// | call | signed as | sends | reads |
        /// |---|---|---|---|
        /// | POST regcode | `/regcode` | `deviceId`, `deviceType`, `ttl`; no body | `code`, `expires` in ms |
        /// | GET authenticate/{code} | `/authenticate/{code}` | `requestor` | `expires` as text of ms |
        /// | GET authorize | `/authorize` | Media RSS with CDATA | `expires` |
        /// | GET mediatoken | `/mediatoken` | the same | `serializedToken` |
        /// | GET tokens/usermetadata, tokens/authn | without `/api/v1` | `requestor`, `deviceId` | JSON |
        /// | DELETE logout | `/logout` | `deviceId` alone | nothing |
        @Test("clients K9: Kodi's add-on of ESPN, whole")
        func activateApi() async throws {
            let app = try SigningApp()
            func call(_ method: String, _ place: String, _ path: String, _ query: [String: String]) async throws -> HTTPAnswer {
                let headers = [
                    "Accept": "application/json", "Accept-Language": "en-us", "Content-Type": "application/x-www-form-urlencoded; charset=UTF-8",
                    "User-Agent": "AppleCoreMedia/1.0.0.13Y234 (Apple TV; U; CPU OS 9_2 like Mac OS X; en_us)",
                    "Authorization": app.header(method, path),
                ]
                return try await app.cluster.send(Call(method, place + path, query: query, headers: headers, body: method == "POST" ? "" : nil))
            }
            let device = ["deviceId": app.device]
            let made = try await call("POST", "/reggie/v1/ACME1", "/regcode", device.merging(["deviceType": "appletv", "ttl": "1800"]) { $1 })
            try #require(made.status == 201 && made.isJSON, "\(made.text)")
            let code = try #require(made.object["code"] as? String)
            #expect((made.object["expires"] as? Int64 ?? 0) > Int64(Date().timeIntervalSince1970 * 1000))
            let requestor = ["requestor": "ACME1"]
            #expect(try await call("GET", "/api/v1", "/authenticate/\(code)", requestor).status == 404)
            try await app.secondScreen(code)
            let session = try await call("GET", "/api/v1", "/authenticate/\(code)", requestor)
            #expect(session.status == 200 && (session.object["expires"] as? String).flatMap { Int64($0) } != nil, "\(session.text)")
            let own = requestor.merging(device) { $1 }
            #expect(try await call("GET", "/api/v1", "/tokens/authn", own).object["userId"] as? String == session.object["userId"] as? String)
            let rss = """
                <rss version="2.0" xmlns:media="http://search.yahoo.com/mrss/"><channel><title><![CDATA[ACME1-NEWS]]></title><item>\
                <title><![CDATA[News, at ten]]></title><guid><![CDATA[4711]]></guid><media:rating scheme="urn:v-chip"><![CDATA[TV-G]]></media:rating>\
                </item></channel></rss>
                """
            let permit = try await call("GET", "/api/v1", "/authorize", own.merging(["resource": rss]) { $1 })
            #expect(permit.status == 200 && (permit.object["expires"] as? String).flatMap { Int64($0) } != nil, "\(permit.text)")
            let media = try await call("GET", "/api/v1", "/mediatoken", own.merging(["resource": rss]) { $1 })
            #expect(media.status == 200 && (media.object["serializedToken"] as? String)?.isEmpty == false, "\(media.text)")
            #expect(try await call("GET", "/api/v1", "/tokens/usermetadata", own).isJSON)
            #expect(try await call("DELETE", "/api/v1", "/logout", device).status == 204)
            #expect(try await call("GET", "/api/v1", "/tokens/authn", own).status == 404)
        }

        /// The Android reference app of a broadcaster, October 2019, with the addresses of its configuration.
        ///
        /// | call | sends | reads |
        /// |---|---|---|
        /// | GET checkauthn | `deviceId` alone | status |
        /// | POST regcode | `registrationURL`, the device | `code` |
        /// | GET authenticate | `domain_name=adobe.com`, `no_iframe` | where it leads |
        /// | GET tokens/authn, authorize, tokens/authz, tokens/media | device, requestor, resource | JSON |
        /// | POST preauthorize | a form of seven resources with `appId` and `ttl` beside | each resource's answer |
        /// | GET tokens/usermetadata | `deviceType=android` beside | JSON |
        @Test("clients #32: the reference app of a broadcaster for Android, at a requestor whose limit fits its seven resources")
        func referenceApp() async throws {
            let app = try SigningApp()
            func header(_ method: String, _ uri: String) -> String { app.header(method, uri, requestor: "ACME2") }
            func get(_ path: String, _ query: [String: String]) async throws -> HTTPAnswer {
                try await app.send("GET", "/api/v1" + path, query, header: header("GET", path))
            }
            let device = ["deviceId": app.device]
            #expect(try await app.cluster.send(Call("GET", "/api/v1/config/ACME2")).text.contains("NorthCable"))
            #expect(try await get("/checkauthn", device).status == 403)
            let made = try await app.send(
                "POST", "/reggie/v1/ACME2/regcode", header: header("POST", "/regcode"),
                body: FormEncoding.encode([("deviceId", app.device), ("deviceType", "android"), ("registrationURL", "https://acme-two.example/")]))
            try #require(made.status == 201, "\(made.text)")
            let code = try #require(made.object["code"] as? String)
            let page = try await Device.make("ACME2")
            let query = page.signInParameters(code).merging(["domain_name": "adobe.com"]) { $1 }
            let url = app.cluster.gateway + "/api/v1/authenticate?" + FormEncoding.encode(query.sorted { $0.key < $1.key }.map { ($0.key, $0.value) })
            var browser = Browser(exchange: app.cluster.exchange)
            let end = try await browser.complete(try await browser.visit(url), at: url, name: "ada")
            #expect(end.status == 302 && end.header("location") == page.end, "\(end.status) \(end.text)")
            #expect(try await get("/checkauthn", device).status == 200)
            let own = device.merging(["requestor": "ACME2"]) { $1 }
            #expect(try await get("/tokens/authn", own).object["mvpd"] as? String == "NorthCable")
            let play = own.merging(["resource": "ACME2-MOVIES"]) { $1 }
            #expect(try await get("/authorize", play).status == 200)
            #expect(try await get("/tokens/authz", play).status == 200)
            #expect(try await get("/tokens/media", play).object["serializedToken"] is String)
            let seven = ["ACME2-MOVIES"] + (1...6).map { "ACME2-REGION\($0)" }
            let asked = try await app.send(
                "POST", "/api/v1/preauthorize", header: header("POST", "/preauthorize"),
                body: "deviceType=android&deviceId=\(app.device)&appId=RSN%20App&ttl=300&requestor=ACME2&resource=\(seven.joined(separator: ","))")
            let items = try #require(asked.object["resources"] as? [[String: Any]], "\(asked.status) \(asked.text)")
            #expect(items.compactMap { $0["id"] as? String } == seven)
            #expect(items.compactMap { $0["authorized"] as? Bool } == [true] + [Bool](repeating: false, count: 6))
            #expect(try await get("/tokens/usermetadata", own.merging(["deviceType": "android"]) { $1 }).isJSON)
            #expect(try await app.send("DELETE", "/api/v1/logout", device, header: header("DELETE", "/logout")).status == 204)
            #expect(try await get("/checkauthn", device).status == 403)
        }

        @Test("clients #22: a token is asked for by the query, without a body")
        func tokenByQuery() async throws {
            let client = try await Client.register("acme-tv")
            let query = ["client_id": client.id, "client_secret": client.secret, "grant_type": "client_credentials"]
            for body in [nil, ""] {
                let answer = try await TestCluster.running().send(
                    Call("POST", "/o/client/token", query: query, headers: ["Accept": "application/json"], body: body))
                #expect((200...201).contains(answer.status) && answer.object["access_token"] is String, "\(answer.status) \(answer.text)")
            }
        }

        @Test("clients #33: a page of a registered domain reads list, record and checkauthn; a foreign one is not let in by its browser")
        func pagesWithoutAuthorization() async throws {
            let device = try await Device.make()
            let code = try await device.code()
            for path in ["/api/v1/config/ACME1", "/reggie/v1/ACME1/regcode/\(code)", "/api/v1/checkauthn/\(code)"] {
                let query = path.contains("checkauthn") ? ["requestor": "ACME1"] : [:]
                func ask(_ origin: String) async throws -> HTTPAnswer {
                    try await device.cluster.send(Call("GET", path, query: query, headers: ["Accept": "application/json", "Origin": origin]))
                }
                let own = try await ask("https://www.acme.example")
                #expect([200, 403].contains(own.status), "\(path): \(own.status) \(own.text)")
                #expect(own.header("access-control-allow-origin") == "https://www.acme.example", "\(path)")
                #expect(!own.text.contains(Data(device.id.utf8).base64EncodedString()) && !own.text.contains(device.id))
                #expect(try await ask("https://evil.example").header("access-control-allow-origin") == nil, "\(path)")
            }
        }
    }
}
