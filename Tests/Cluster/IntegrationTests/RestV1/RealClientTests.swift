@testable import ClusterCommands
@testable import CommandKit
@testable import WorkshopCommands
import Foundation
import Testing

extension RestV1Tests {
    /// The requests and answers of clients that exist (Shared/Documents/Specs/clients.md §1).
    @Suite("Clients that exist")
    struct RealClientTests {
        /// A device as those clients have it: without device information.
        private static func silent(_ call: Call, userAgent: String? = nil) -> Call {
            call.with {
                $0.headers["X-Device-Info"] = nil
                if let userAgent { $0.headers["User-Agent"] = userAgent }
            }
        }

        @Test("clients #15, #31: a bearer without device information goes the whole way")
        func withoutDeviceInformation() async throws {
            let device = try await Device.make()
            let cluster = device.cluster
            let made = try await cluster.send(Self.silent(device.codeCall()))
            try #require(made.status == 201, "\(made.text)")
            let code = try #require(made.object["code"] as? String)
            for key in ["expires", "generated", "id", "requestor", "info"] { #expect(made.object[key] != nil, "\(key)") }
            func ask(_ path: String, _ parameters: [String: String] = [:], method: String = "GET") async throws -> HTTPAnswer {
                try await cluster.send(Self.silent(device.call(path, parameters, method: method)))
            }
            #expect(try await ask("/api/v1/checkauthn").status == 403)
            try await device.signIn(code: code)
            #expect(try await ask("/api/v1/checkauthn").status == 200)
            let token = try await ask("/api/v1/tokens/authn")
            #expect(token.status == 200 && token.object["mvpd"] as? String == "NorthCable" && token.object["expires"] is String)
            #expect(try await ask("/api/v1/authorize", ["resource": "ACME1-NEWS"]).status == 200)
            #expect(try await ask("/api/v1/tokens/authz", ["resource": "ACME1-NEWS"]).status == 200)
            let media = try await ask("/api/v1/tokens/media", ["resource": "ACME1-NEWS"])
            #expect(media.status == 200 && (media.object["serializedToken"] as? String)?.isEmpty == false)
            #expect(try await ask("/api/v1/logout", method: "DELETE").status == 204)
            #expect(try await ask("/api/v1/checkauthn").status == 403)
        }

        @Test("clients #16: domain_name=adobe.com serves every requestor, and says nothing of where a viewer returns to")
        func domainOfTheReference() async throws {
            let device = try await Device.make()
            let code = try await device.code()
            #expect(try await device.authenticate(code, changing: ["domain_name": "adobe.com"]).status == 302)
            let elsewhere = ["domain_name": "adobe.com", "redirect_url": "https://adobe.com/"]
            #expect(try await device.authenticate(code, changing: elsewhere).status == 400)
            #expect(try await device.authenticate(code, changing: ["domain_name": "www.adobe.com"]).status == 400)
        }

        @Test("clients #17: formats as clients ask for them")
        func formats() async throws {
            let device = try await Device.make()
            let code = try await device.code()
            let record = "/reggie/v1/ACME1/regcode/\(code)"
            func answer(_ path: String, _ accept: String, query: [String: String] = [:]) async throws -> HTTPAnswer {
                try await device.cluster.send(Call("GET", path, query: query, headers: device.headers).with { $0.headers["Accept"] = accept })
            }
            #expect(try await answer(record, "*/*", query: ["format": "json"]).isJSON)
            #expect(try await answer(record, "application/json, text/plain, */*").isJSON)
            #expect(try await answer(record, "application/json; charset=utf-8").isJSON)
            #expect(try await answer(record + ".json", "*/*").isJSON)
            #expect(try await answer("/api/v1/checkauthn/\(code).json", "*/*", query: ["requestor": "ACME1"]).isJSON)
            let form = try await device.cluster.send(device.codeCall([("format", "json")]).with { $0.headers["Accept"] = "*/*" })
            #expect(form.status == 201 && form.isJSON)
        }

        @Test("clients #18: a code by the query alone; the access token as a field of the form")
        func codeByQueryOrForm() async throws {
            let device = try await Device.make()
            let path = "/reggie/v1/ACME1/regcode"
            let others = [
                ("requestor", "ACME1"), ("ttl", "1800"), ("networkType", "WIFI"), ("appId", "app"), ("appVersion", "1.2"), ("deviceUser", "u"),
            ]
            let query = Dictionary(uniqueKeysWithValues: [("deviceId", device.id), ("format", "json")] + others)
            let empty = ["Content-Type": "application/x-www-form-urlencoded", "Authorization": "Bearer \(device.accessToken)"]
            #expect(try await device.cluster.send(Call("POST", path, query: query, headers: empty, body: "")).status == 201)
            func form(_ fields: [(String, String)], headers: [String: String] = [:]) async throws -> HTTPAnswer {
                try await device.cluster.send(Call.form(path, [("deviceId", device.id), ("format", "json")] + fields, headers: headers))
            }
            let token = ("access_token", device.accessToken)
            #expect(try await form([token] + others).status == 201)
            #expect(try await form([token], headers: ["Authorization": "Bearer \(device.accessToken)"]).status == 201)
            let two = try await form([token], headers: ["Authorization": "Bearer another"])
            #expect(two.status == 400 && two.oauthError == "invalid_request")
            let long = ("filler", String(repeating: "x", count: 9000))
            #expect(try await form([long, token]).status == 401, "nobody searches a long form for a token")
            #expect(try await form([long], headers: ["Authorization": "Bearer \(device.accessToken)"]).status == 201)
        }

        @Test("clients #19: authenticate/{code} answers the code's maker only")
        func tokenByCode() async throws {
            let device = try await Device.make()
            let code = try await device.code()
            func ask(_ code: String, by other: Device) async throws -> HTTPAnswer {
                let call = Call("GET", "/api/v1/authenticate/\(code)", query: ["requestor": "ACME1"], headers: other.headers)
                return try await device.cluster.send(Self.silent(call))
            }
            #expect(try await ask(code, by: device).status == 404)
            try await device.signIn(code: code)
            let token = try await ask(code, by: device)
            #expect(token.status == 200 && token.object["requestor"] as? String == "ACME1" && token.object["expires"] is String)
            #expect(token.object["userId"] as? String == (try await device.authnToken()).object["userId"] as? String)
            #expect(!token.text.contains(device.id))
            #expect(try await ask(code, by: try await Device.make()).status == 404)
            #expect(try await ask("ZZZZZZZ", by: device).status == 404)
            let nobody = Call("GET", "/api/v1/authenticate/\(code)", query: ["requestor": "ACME1"])
            #expect(try await device.cluster.send(nobody).status == 401)
            #expect(try await device.logout() == 204)
            #expect(try await ask(code, by: device).status == 404)
        }

        @Test("clients #20: checkauthn and logout without a requestor are for the application's")
        func withoutRequestor() async throws {
            let device = try await Device.make("ACME2")
            func check() async throws -> Int {
                try await device.cluster.send(Self.silent(device.call("/api/v1/checkauthn").with { $0.query["requestor"] = nil })).status
            }
            #expect(try await check() == 403)
            try await device.signIn()
            #expect(try await check() == 200)
            let logout = device.call("/api/v1/logout", method: "DELETE").with { $0.query["requestor"] = nil }
            #expect(try await device.cluster.send(Self.silent(logout)).status == 204)
            #expect(try await check() == 403)
        }

        @Test("clients #21: the maker deletes its code, after its use too")
        func deletesUsedCode() async throws {
            let device = try await Device.make()
            let code = try await device.signIn()
            let delete = Call("DELETE", "/reggie/v1/ACME1/regcode/\(code)", headers: device.headers)
            let stranger = try await Device.make()
            #expect(try await device.cluster.send(delete.with { $0.headers["Authorization"] = stranger.headers["Authorization"] }).status == 404)
            #expect(try await device.cluster.send(delete).status == 204)
            #expect(try await device.cluster.send(delete).status == 404)
        }

        @Test("clients #23: preauthorize with a form")
        func preauthorizeByForm() async throws {
            let device = try await Device.make()
            try await device.signIn()
            let fields = [("requestor", "ACME1"), ("deviceId", device.id), ("resource", "ACME1-NEWS,ACME1-SPORT")]
            let byForm = try await device.cluster.send(Self.silent(Call.form("/api/v1/preauthorize", fields, headers: device.headers)))
            #expect(byForm.status == 200 && (byForm.object["resources"] as? [Any])?.count == 2, "\(byForm.text)")
            #expect(byForm.text == (try await device.preauthorize("ACME1-NEWS,ACME1-SPORT")).text)
        }

        @Test("clients #28: a requestor can demand device information, as the documents have it")
        func demandsDeviceInformation() async throws {
            let device = try await Device.make()
            let edit = try CatalogueEdit()
            defer { try? edit.undo() }
            try edit.set(requestor: "ACME1", ["deviceInformation": "required"])
            func status() async throws -> Int { try await device.cluster.send(Self.silent(device.codeCall())).status }
            try await Condition.wait("demanded") { try await status() == 400 }
            #expect(try await device.requestCode().status == 201)
            try edit.undo()
            try await Condition.wait("no longer") { try await status() == 201 }
        }

        @Test(
            "clients #29: what device it is tells deviceType, else the User-Agent",
            arguments: [
                ("appletv", "", "tvOS"), ("android_tv", "", "Android"), ("firetv", "", "Android"), ("Win8Universal", "", "Windows"),
                ("", "okhttp/4.9.0", "Android"), ("", "Dalvik/2.1.0 (Linux; U; Android 9; AFTT Build/PS7)", "Android"),
                ("", "AppleCoreMedia/1.0.0.19L570 (Apple TV; U; CPU OS 15_1 like Mac OS X; en_us)", "tvOS"), ("", "Roku/DVP-9.10", "Roku OS"),
            ])
        func guessesTheDevice(deviceType: String, userAgent: String, system: String) async throws {
            let device = try await Device.make()
            let call = device.codeCall(deviceType.isEmpty ? [] : [("deviceType", deviceType)])
            let made = try await device.cluster.send(Self.silent(call, userAgent: userAgent.isEmpty ? "python-requests/2.31" : userAgent))
            let information = try JSONSerialization.jsonObject(with: Data(made.decodedInfo("deviceInfo") ?? [])) as? [String: Any]
            #expect((information?["operatingSystem"] as? [String: Any])?["name"] as? String == system, "\(made.text)")
        }

        @Test("clients #73: a program begins a sign-in with its bearer and hands it to a person's browser", arguments: ["NorthCable", "LakeTel"])
        func handsOver(mvpd: String) async throws {
            let device = try await Device.make()
            let code = try await device.code()
            // The program: no cookies, its bearer, redirects not followed.
            let begun = try await device.cluster.send(
                Call("GET", "/api/v1/authenticate", query: device.signInParameters(code, mvpd: mvpd), headers: Self.silent(device.codeCall()).headers)
            )
            #expect(begun.header("set-cookie") == nil && [200, 302].contains(begun.status), "\(begun.status) \(begun.text)")
            var browser = Browser(exchange: device.cluster.exchange)
            let end = try await browser.complete(begun, at: device.cluster.gateway + "/api/v1/authenticate", name: "ada")
            #expect(end.status == 302 && end.header("location") == device.end, "\(end.status) \(end.text)")
            #expect(try await device.checkAuthn() == 200)
        }

        @Test(
            "clients #74: handed over at an OAuth provider too, at both of v1's doors",
            arguments: ["/api/v1/authenticate", "/adobe-services/authenticate/saml"])
        func handsOverOAuth(door: String) async throws {
            let device = try await Device.make()
            let code = try await device.code()
            let begun = try await device.cluster.send(
                Call("GET", door, query: device.signInParameters(code, mvpd: "OpenFiber"), headers: Self.silent(device.codeCall()).headers))
            let first = try #require(begun.header("location"), "\(begun.status) \(begun.text)")
            #expect(begun.status == 302 && begun.header("set-cookie") == nil)
            var person = OAuthBrowser(device)
            let provider = device.cluster.isBridge ? try await person.passOn(first) : first
            let end = try await person.finish(try await person.logIn(at: provider, as: "ada"))
            #expect(end.status == 302 && end.header("location") == device.end, "\(end.status) \(end.text)")
            #expect(try await device.checkAuthn() == 200)
        }

        @Test("clients #30: a page that asks a person calls a device that told nothing an unknown device")
        func unknownDevice() async throws {
            let device = try await Device.make()
            let made = try await device.cluster.send(Self.silent(device.codeCall(), userAgent: "python-requests/2.31"))
            let code = try #require(made.object["code"] as? String)
            let page = try await device.cluster.send(Call("GET", "/activate/sign-in", query: ["code": code, "mvpd": "NorthCable"]))
            #expect(page.status == 200 && page.text.contains("an unknown device"), "\(page.text)")
        }
    }
}
