@testable import ClusterCommands
@testable import CommandKit
import Cryptography
import Foundation
import Testing
import TextEncodings

/// An app from before client registration: it signs each request with the pair of `acme-legacy`.
struct SigningApp: Sendable {
    let cluster: TestCluster
    let pair: ClusterFile.SigningPair
    let device = UUID().uuidString

    /// - Parameter pair: Without one, the demo's.
    init(pair: ClusterFile.SigningPair? = nil) throws {
        cluster = try TestCluster.running()
        self.pair = try pair ?? #require(try ClusterFile.read(cluster.home)?.signedRequests?["acme-legacy"])
    }

    /// As all clients that were seen write it (Shared/Documents/Specs/clients.md §2).
    func header(_ method: String, _ uri: String, requestor: String = "ACME1", secret: String? = nil, time: String? = nil) -> String {
        let moment = time ?? String(Int64(Date().timeIntervalSince1970 * 1000))
        let text =
            "\(method) requestor_id=\(requestor), nonce=\(UUID().uuidString.lowercased()), signature_method=HMAC-SHA1, request_time=\(moment), request_uri=\(uri)"
        let code = HMACSHA1.authenticate(Array(text.utf8), key: Array((secret ?? pair.secret).utf8))
        return "\(text), public_key=\(pair.publicKey), signature=\(Base64.standard.encode(code))"
    }

    func send(
        _ method: String, _ path: String, _ query: [String: String] = [:], header: String, accept: String? = "application/json", body: String? = nil
    )
        async throws -> HTTPAnswer
    {
        var headers = ["Authorization": header]
        if let accept { headers["Accept"] = accept }
        if body != nil { headers["Content-Type"] = "application/x-www-form-urlencoded" }
        return try await cluster.send(Call(method, path, query: query, headers: headers, body: body))
    }

    /// A person signs the device in on another screen.
    func secondScreen(_ code: String, requestor: String = "ACME1") async throws {
        let device = try await Device.make(requestor)
        var browser = Browser(exchange: cluster.exchange)
        let answer = try await browser.signIn(device, code: code, mvpd: "NorthCable", name: "ada")
        try #require(answer.status == 302 && answer.header("location") == device.end, "\(answer.status) \(answer.text)")
    }
}

extension RestV1Tests {
    /// The requests of clients of family S, in their order and with their spellings (Shared/Documents/Specs/clients.md §2, §7).
    @Suite("Clients that sign")
    struct SignedClientTests {
        /// `script.module.adobepass`, November 2020: everything in the query, JSON by `format`, a fresh header for each call.
        @Test("clients #1: Kodi's module that add-ons share, whole")
        func kodi() async throws {
            let app = try SigningApp()
            func call(_ method: String, _ path: String, _ uri: String, _ query: [String: String] = [:]) async throws -> HTTPAnswer {
                let all = query.merging(["deviceId": app.device, "format": "json"]) { first, _ in first }
                return try await app.send(method, path, all, header: app.header(method, uri), accept: nil, body: method == "POST" ? "" : nil)
            }
            let made = try await call("POST", "/reggie/v1/ACME1/regcode", "/regcode", ["ttl": "1800"])
            try #require(made.status == 201 && made.isJSON, "\(made.text)")
            let code = try #require(made.object["code"] as? String)
            #expect(try await call("GET", "/api/v1/checkauthn", "/checkauthn").status == 403)
            try await app.secondScreen(code)
            #expect(try await call("GET", "/api/v1/checkauthn", "/checkauthn").status == 200)
            let token = try await call("GET", "/api/v1/tokens/authn", "/tokens/authn", ["requestor": "ACME1"])
            #expect(token.status == 200 && token.object["mvpd"] as? String == "NorthCable")
            let play = ["requestor": "ACME1", "resource": "ACME1-NEWS"]
            #expect(try await call("GET", "/api/v1/authorize", "/authorize", play).status == 200)
            #expect(try await call("GET", "/api/v1/tokens/authz", "/tokens/authz", play).status == 200)
            let media = try await call("GET", "/api/v1/mediatoken", "/mediatoken", play)
            #expect(media.status == 200 && (media.object["serializedToken"] as? String)?.isEmpty == false)
            #expect(try await call("DELETE", "/api/v1/logout", "/logout").status == 204)
            #expect(try await call("GET", "/api/v1/checkauthn", "/checkauthn").status == 403)
        }

        /// SlyGuy's ESPN add-on, until 2024: `Accept` with a charset, an Android `User-Agent`, and the code is deleted once it is used.
        @Test("clients #2: SlyGuy's add-on, whole")
        func slyGuy() async throws {
            let app = try SigningApp()
            func call(_ method: String, _ path: String, _ uri: String, _ query: [String: String] = [:]) async throws -> HTTPAnswer {
                try await app.send(method, path, query, header: app.header(method, uri), accept: "application/json; charset=utf-8")
            }
            let made = try await call("POST", "/reggie/v1/ACME1/regcode", "/regcode", ["deviceId": app.device, "deviceType": "android_tv"])
            try #require(made.status == 201 && made.isJSON, "\(made.text)")
            let code = try #require(made.object["code"] as? String)
            let own = ["deviceId": app.device, "requestor": "ACME1"]
            #expect(try await call("GET", "/api/v1/tokens/authn", "/tokens/authn", own).status == 404)
            try await app.secondScreen(code)
            let token = try await call("GET", "/api/v1/tokens/authn", "/tokens/authn", own)
            #expect((token.object["expires"] as? String).flatMap { Int64($0) } != nil, "\(token.text)")
            #expect(try await call("DELETE", "/reggie/v1/ACME1/regcode/\(code)", "/regcode/\(code)").status == 204)
            let resource = own.merging(["resource": "ACME1-NEWS"]) { $1 }
            let permit = try await call("GET", "/api/v1/authorize", "/authorize", resource)
            #expect(permit.object["resource"] as? String == "ACME1-NEWS")
            #expect(try await call("GET", "/api/v1/tokens/media", "/tokens/media", resource).status == 200)
            #expect(try await call("DELETE", "/api/v1/logout", "/logout", ["deviceId": app.device]).status == 204)
            #expect(try await call("GET", "/api/v1/tokens/authn", "/tokens/authn", own).status == 404)
        }

        /// EPlusTV's ESPN handler, May 2025: whole addresses as `request_uri`, a resource in Media RSS, polls by the code.
        @Test("clients #3: EPlusTV at ESPN, whole")
        func eplusESPN() async throws {
            let app = try SigningApp()
            let made = try await app.send(
                "POST", "/reggie/v1/ACME1/regcode", ["deviceId": app.device, "deviceType": "android_tv", "ttl": "1800"],
                header: app.header("POST", "/regcode"))
            let code = try #require(made.object["code"] as? String)
            func poll() async throws -> HTTPAnswer {
                try await app.send(
                    "GET", "/api/v1/authenticate/\(code)", ["requestor": "ACME1"], header: app.header("GET", "/authenticate/\(code)"))
            }
            #expect(try await poll().status == 404)
            try await app.secondScreen(code)
            let token = try await poll()
            #expect(token.status == 200 && token.object["mvpd"] as? String == "NorthCable" && !token.text.contains(app.device))
            let rss =
                "<rss version=\"2.0\" xmlns:media=\"http://search.yahoo.com/mrss/\"><channel><title>ACME1-NEWS</title><item><title>News, sport, a=b</title><guid>1</guid></item></channel></rss>"
            let query = ["deviceId": app.device, "requestor": "ACME1", "resource": rss]
            let encoded = FormEncoding.encode(query.sorted { $0.key < $1.key }.map { ($0.key, $0.value) })
            let permit = try await app.send(
                "GET", "/api/v1/authorize", query, header: app.header("GET", "\(app.cluster.gateway)/api/v1/authorize?\(encoded),a=b"))
            #expect(permit.status == 200, "\(permit.text)")
            let media = try await app.send("GET", "/api/v1/tokens/media", query, header: app.header("GET", "/tokens/media"))
            #expect(media.status == 200 && media.object["serializedToken"] is String, "\(media.text)")
        }

        /// EPlusTV's CBS handler, May 2025: it polls `tokens/authn` alone, and the signed address is not the called one.
        @Test("clients #4: EPlusTV at CBS, whole: it signs an address that is not the called one")
        func eplusCBS() async throws {
            let app = try SigningApp()
            let query = ["deviceId": app.device, "requestor": "ACME1"]
            func poll() async throws -> HTTPAnswer {
                try await app.send("GET", "/api/v1/tokens/authn", query, header: app.header("GET", "/authn"))
            }
            let made = try await app.send("POST", "/reggie/v1/ACME1/regcode", ["deviceId": app.device], header: app.header("POST", "/regcode"))
            let code = try #require(made.object["code"] as? String, "\(made.text)")
            #expect(try await poll().status == 404)
            try await app.secondScreen(code)
            let token = try await poll()
            #expect(token.status == 200 && token.object["mvpd"] as? String == "NorthCable", "\(token.text)")
            #expect(token.object["requestor"] as? String == "ACME1" && (token.object["userId"] as? String)?.isEmpty == false)
            #expect((token.object["expires"] as? String).flatMap { Int64($0) } != nil)
        }

        @Test("clients #5: one header for four calls, as second-screen scripts do")
        func oneHeader() async throws {
            let app = try SigningApp()
            let query = ["deviceId": app.device, "requestor": "ACME1"]
            let one = app.header("POST", "/regcode")
            let made = try await app.send("POST", "/reggie/v1/ACME1/regcode", ["deviceId": app.device], header: one)
            let code = try #require(made.object["code"] as? String)
            #expect(try await app.send("GET", "/reggie/v1/ACME1/regcode/\(code)", header: one).status == 200)
            #expect(try await app.send("GET", "/api/v1/tokens/authn", query, header: one).status == 404)
            #expect(try await app.send("DELETE", "/reggie/v1/ACME1/regcode/\(code)", header: one).status == 204)
        }

        @Test("clients #6: whatever is wrong with a header, the answer is one and no code is made")
        func refusals() async throws {
            let app = try SigningApp()
            let good = app.header("POST", "/regcode")
            let bad = [
                app.header("POST", "/regcode", secret: "wrong"), good.replacing(app.pair.publicKey, with: "NobodysKeyNobodysKey"),
                good.replacing("requestor_id=ACME1", with: "requestor_id=ACME2"), String(good.dropLast(40)),
                good.replacing("signature=", with: "public_key=x, signature="),
                good.replacing("nonce=", with: "nonce=" + String(repeating: "n", count: 8000)),
                good.replacing(/signature=.*/, with: "signature=!"), "post" + good.dropFirst(4), good.replacing("HMAC-SHA1", with: "HMAC-SHA256"),
            ]
            for header in bad {
                let answer = try await app.send(
                    "POST", "/reggie/v1/ACME1/regcode", ["deviceId": app.device], header: header, accept: "application/xml")
                #expect(answer.status == 401 && answer.text == #"{"error":"access_denied"}"#, "\(header.prefix(80)): \(answer.status) \(answer.text)")
            }
            let twice = try await app.send(
                "POST", "/reggie/v1/ACME1/regcode", ["deviceId": app.device, "access_token": "x"], header: good)
            #expect(twice.status == 400 && twice.oauthError == "invalid_request")
        }

        @Test("clients #7: seconds and a clock that is a day wrong are served, more is not")
        func clocks() async throws {
            let app = try SigningApp()
            let now = Int64(Date().timeIntervalSince1970)
            let query = ["deviceId": app.device, "requestor": "ACME1"]
            for (time, status) in [
                ("\(now)", 404), ("\((now - 23 * 3600) * 1000)", 404), ("\((now + 3600) * 1000)", 404), ("\((now - 25 * 3600) * 1000)", 401),
                ("\((now + 25 * 3600) * 1000)", 401), ("-\(now)", 401), (String(repeating: "9", count: 20), 401),
            ] {
                let header = app.header("GET", "/tokens/authn", time: time)
                #expect(try await app.send("GET", "/api/v1/tokens/authn", query, header: header).status == status, "\(time)")
            }
        }

        @Test("clients #8: the pair's requestors are its limit")
        func requestors() async throws {
            let app = try SigningApp()
            #expect(
                try await app.send(
                    "POST", "/reggie/v1/BRAVO/regcode", ["deviceId": app.device], header: app.header("POST", "/regcode", requestor: "BRAVO")
                ).status == 401)
            #expect(
                try await app.send("POST", "/reggie/v1/BRAVO/regcode", ["deviceId": app.device], header: app.header("POST", "/regcode")).status == 403
            )
        }

        @Test("clients #11: bearers and signatures of one application see each other's codes and sessions")
        func oneApplication() async throws {
            let app = try SigningApp()
            let bearer = Device(
                cluster: app.cluster, requestor: "ACME1", id: app.device,
                accessToken: try await Client.register("acme-legacy").accessToken())
            let query = ["deviceId": app.device, "requestor": "ACME1"]
            func signed(_ path: String, _ query: [String: String] = [:], method: String = "GET") async throws -> HTTPAnswer {
                try await app.send(method, path, query, header: app.header(method, path))
            }
            let made = try await signed("/reggie/v1/ACME1/regcode", ["deviceId": app.device], method: "POST")
            let code = try #require(made.object["code"] as? String, "\(made.text)")
            #expect(try await bearer.record(code).object["code"] as? String == code)
            try await app.secondScreen(code)
            #expect(try await bearer.checkAuthn() == 200)
            #expect(try await bearer.logout() == 204)
            #expect(try await signed("/api/v1/checkauthn", query).status == 403)
            let own = try await bearer.code()
            #expect(try await signed("/reggie/v1/ACME1/regcode/\(own)").object["code"] as? String == own)
            try await bearer.signIn(code: own)
            #expect(try await signed("/api/v1/checkauthn", query).status == 200)
            #expect(try await signed("/api/v1/logout", query, method: "DELETE").status == 204)
            #expect(try await bearer.checkAuthn() == 403)
        }

        @Test("clients #70: with a code read from a screen a signed caller learns no device, and what is bound to a client alone is refused")
        func shoulder() async throws {
            let app = try SigningApp()
            let owner = try await Device.make()
            let code = try await owner.code()
            let record = try await app.send("GET", "/reggie/v1/ACME1/regcode/\(code)", header: app.header("GET", "/regcode/\(code)"))
            #expect(record.status == 200 && record.decodedInfo("deviceId") != Array(owner.id.utf8))
            try await owner.signIn(code: code)
            let header = app.header("GET", "/authenticate/\(code)")
            #expect(try await app.send("GET", "/api/v1/authenticate/\(code)", ["requestor": "ACME1"], header: header).status == 404)
            let own = try await app.send("POST", "/reggie/v1/ACME1/regcode", ["deviceId": app.device], header: app.header("POST", "/regcode"))
            let ownCode = try #require(own.object["code"] as? String)
            #expect(own.decodedInfo("deviceId") == Array(app.device.utf8), "the answer to its own call")
            let again = try await app.send("GET", "/reggie/v1/ACME1/regcode/\(ownCode)", header: app.header("GET", "/regcode/\(ownCode)"))
            #expect(again.status == 200 && again.decodedInfo("deviceId") != Array(app.device.utf8))
            let profile = try await app.send(
                "GET", "/api/v1/ACME1/profile-requests/NorthCable", ["deviceType": "tvOS"], header: app.header("GET", "/profile-requests"))
            #expect(profile.status == 401)
            let tokens = try await app.send("GET", "/auto-signin/v1/ACME1/tokens", header: app.header("GET", "/tokens"))
            #expect(tokens.status == 401)
        }
    }
}
