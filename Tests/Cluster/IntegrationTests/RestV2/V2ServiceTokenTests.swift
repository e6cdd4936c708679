@testable import ClusterCommands
@testable import CommandKit
import Foundation
import Testing

/// A programmer's own service, which names its people.
struct SsoBackend: Sendable {
    let cluster: TestCluster
    let provider: String
    let accessToken: String

    static func make(_ provider: String = "ACME1") async throws -> SsoBackend {
        let token = try await Client.register(provider == "BRAVO" ? "bravo-backend" : "acme-backend").accessToken()
        return SsoBackend(cluster: try TestCluster.running(), provider: provider, accessToken: token)
    }

    func ask(_ person: String?, for device: String) async throws -> HTTPAnswer {
        var headers = [
            "Authorization": "Bearer \(accessToken)", "AP-Device-Identifier": "fingerprint \(Data(device.utf8).base64EncodedString())",
        ]
        headers["X-SSO-ID"] = person
        return try await cluster.send(Call("POST", "/api/\(provider)/serviceToken", headers: headers))
    }

    func token(_ person: String, for device: String) async throws -> String {
        let answer = try await ask(person, for: device)
        try #require(answer.status == 201 && answer.object["status"] as? String == "CREATED", "\(answer.text)")
        #expect(answer.object["jws"] as? String == answer.object["serviceToken"] as? String)
        let (start, end) = (answer.object["notBefore"] as? Int ?? 0, answer.object["notAfter"] as? Int ?? 0)
        #expect(end - start == 3_600_000)
        return try #require(answer.object["serviceToken"] as? String)
    }
}

extension RestV2Tests {
    @Suite("Single sign-on by service token")
    struct ServiceTokenTests {
        private static func send(_ method: String, _ name: String, _ device: V2Device, _ changes: [String: String] = [:], body: Any? = nil)
            async throws
            -> HTTPAnswer
        {
            var headers = device.headers.merging(changes) { $1 }
            let text = try body.map { String(decoding: try JSONSerialization.data(withJSONObject: $0), as: UTF8.self) }
            if text != nil { headers["Content-Type"] = "application/json" }
            return try await device.cluster.send(Call(method, "/api/\(device.provider)/\(name)", headers: headers, body: text))
        }

        /// Code of a wrapped error that is complete, and its action.
        private static func refusal(_ answer: HTTPAnswer) -> [String] {
            guard let error = answer.object["error"] as? [String: Any], error["status"] as? Int == answer.status, error["message"] is String,
                answer.object["status"] is String, (error["helpUrl"] as? String)?.hasPrefix("http") == true,
                UUID(uuidString: error["trace"] as? String ?? "") != nil
            else { return [] }
            return ["\(answer.status)", error["code"] as? String ?? "", error["action"] as? String ?? ""]
        }

        private static func device(_ provider: String = "ACME1", id: String = UUID().uuidString, token: String? = nil) async throws -> V2Device {
            var device = try await V2Device.make(provider, id: id)
            device.others["AD-Service-Token"] = token
            return device
        }

        private static func claims(_ token: String) throws -> [String: Any] {
            var text = try #require(token.split(separator: ".").dropFirst().first).replacing("-", with: "+").replacing("_", with: "/")
            while text.utf8.count % 4 != 0 { text += "=" }
            let claims = try #require(Data(base64Encoded: String(text)))
            return try #require(try JSONSerialization.jsonObject(with: claims) as? [String: Any])
        }

        @Test("rest-v2 #100, #26, #87: a person's login serves on all devices, ends with the first, and is ended by any")
        func wholeLife() async throws {
            let backend = try await SsoBackend.make()
            let person = UUID().uuidString
            var first = try await V2Device.make()
            first.others["AD-Service-Token"] = try await backend.token(person, for: first.id)
            try await first.signIn()
            let own = try #require(try await first.profiles()["NorthCable"])
            #expect(own["type"] as? String == "regular")
            let second = try await Self.device()
            #expect(try await second.profiles().isEmpty, "without a token it is a stranger's")
            for provider in ["ACME1", "ACME2"] {
                let id = provider == "ACME1" ? second.id : UUID().uuidString
                let other = try await Self.device(provider, id: id, token: try await backend.token(person, for: id))
                let taken = try #require(try await other.profiles()["NorthCable"])
                #expect(taken["type"] as? String == "serviceTokenSSO" && taken["issuer"] as? String == "NorthCable")
                #expect(taken["notAfter"] as? Int == own["notAfter"] as? Int)
                #expect(try await other.profiles("profiles/NorthCable").keys.sorted() == ["NorthCable"])
                #expect(try await other.session().step == ["authorize", "direct", "authenticatedSSO"])
                let resource = provider == "ACME1" ? "ACME1-NEWS" : "ACME2-MOVIES"
                #expect(try await other.decision(resource).isAuthorized)
                #expect(try await other.decisions("preauthorize", [resource]).first?.isAuthorized == true)
                #expect(try await other.decision(resource, ["AD-Service-Token": "x"]).errorCode == "authenticated_profile_missing")
            }
            let last = try await Self.device(token: try await backend.token(person, for: UUID().uuidString))
            let logout = try await last.get("logout/NorthCable", ["redirectUrl": last.end])
            #expect(((logout.object["logouts"] as? [String: [String: Any]])?["NorthCable"])?["actionName"] as? String == "logout")
            #expect(try await first.profiles().isEmpty)
            #expect(try await last.profiles().isEmpty)
        }

        @Test("rest-v2 #119: what two programmers call a person is two; our own token is an AD-Service-Token")
        func programmers() async throws {
            let person = UUID().uuidString
            let (acme, bravo) = (try await SsoBackend.make(), try await SsoBackend.make("BRAVO"))
            let first = try await Self.device(token: try await acme.token(person, for: "first"))
            try await first.signIn()
            let foreign = try await bravo.token(person, for: "second")
            #expect(try await Self.device("BRAVO", token: foreign).profiles().isEmpty)
            #expect(try await Self.device("BRAVO", token: first.others["AD-Service-Token"]).profiles().isEmpty)
            #expect(try await Self.device(token: foreign).profiles().isEmpty)
            let claims = try Self.claims(foreign)
            #expect(claims["iss"] as? String == "ssoservicetoken" && claims["aud"] as? String == "Adobe")
            #expect((claims["exp"] as? Int ?? 0) - (claims["iat"] as? Int ?? 0) == 3600 && claims["nbf"] is Int && claims["sub"] is String)
        }

        @Test("rest-v2 #102: a token is for somebody, and only a programmer's own service says for whom")
        func refused() async throws {
            let backend = try await SsoBackend.make()
            #expect(Self.refusal(try await backend.ask(nil, for: "d")) == ["400", "header_missing", "check_headers"])
            let app = try await Self.device()
            #expect(Self.refusal(try await Self.send("POST", "serviceToken", app, ["X-SSO-ID": "ada"])) == ["401", "unauthorized", "none"])
            #expect(
                Self.refusal(try await Self.send("POST", "serviceToken", app, ["X-SSO-LINK": "12"])) == ["401", "header_invalid", "get_new_token"])
            #expect(
                Self.refusal(try await Self.send("POST", "serviceToken", app, ["X-SSO-ID": "ada", "Authorization": "Bearer x"]))
                    == ["401", "unauthorized", "none"])
            for (method, name, status) in [
                ("GET", "serviceToken", "400"), ("POST", "link", "401"), ("POST", "unlink", "401"), ("GET", "list", "401"),
            ] {
                #expect(Self.refusal(try await Self.send(method, name, app)) == [status, "header_missing", "check_headers"], "\(name)")
                let body: Any? = name == "unlink" ? ["devices": ["d"]] : nil
                let bad = try await Self.send(method, name, app, ["AD-Service-Token": "a.b.c"], body: body)
                #expect(Self.refusal(bad) == ["400", "token_invalid", "get_new_token"], "\(name)")
            }
        }

        @Test("rest-v2 #103: a link code brings one device to the person; the person's devices are told, and can be taken out")
        func devices() async throws {
            let backend = try await SsoBackend.make()
            let first = try await Self.device()
            var known = first
            known.others["AD-Service-Token"] = try await backend.token(UUID().uuidString, for: first.id)
            try await known.signIn()
            let link = try await Self.send("POST", "link", known)
            let code = try #require(link.object["code"] as? String, "\(link.text)")
            #expect(link.status == 201 && link.object["link"] as? String == code && code.wholeMatch(of: /\d{6}/) != nil)
            #expect((link.object["notAfter"] as? Int ?? 0) - (link.object["notBefore"] as? Int ?? 0) == 600_000)

            var second = try await Self.device()
            let joined = try await Self.send("POST", "serviceToken", second, ["X-SSO-LINK": code])
            try #require(joined.status == 201, "\(joined.text)")
            second.others["AD-Service-Token"] = joined.object["serviceToken"] as? String
            #expect(try await second.profiles()["NorthCable"]?["type"] as? String == "serviceTokenSSO")
            let again = try await Self.send("POST", "serviceToken", try await Self.device(), ["X-SSO-LINK": code])
            #expect(Self.refusal(again) == ["401", "header_invalid", "get_new_token"])
            // A guesser has to pause, and keeps nobody else of the programmer's people from theirs.
            let guesser = try await Self.device()
            var answers: [Int] = []
            for _ in 0..<7 { answers.append(try await Self.send("POST", "serviceToken", guesser, ["X-SSO-LINK": code]).status) }
            #expect(answers == [401, 401, 401, 401, 401, 429, 429])
            let further = try await Self.send("POST", "link", known)
            let third = try await Self.send("POST", "serviceToken", try await Self.device(), ["X-SSO-LINK": further.object["code"] as? String ?? ""])
            #expect(third.status == 201, "\(third.text)")
            let thirdToken = third.object["serviceToken"] as? String
            #expect(thirdToken != nil)

            let list = try #require(try await Self.send("GET", "list", second).object["devices"] as? [String: [String: Any]])
            #expect(list.count == 3 && list[second.id]?["type"] as? String == "sso" && list[first.id] == nil)
            let told = try #require(list.first { $0.value["type"] as? String == "regular" })
            #expect(told.value["type"] as? String == "regular" && told.value["os"] is String && told.value["lastSeen"] is Int)

            let gone = try await Self.send("POST", "unlink", known, body: ["devices": [second.id, "nobody"]])
            #expect(gone.status == 200 && gone.object["unlinkedDevices"] as? [String] == [second.id], "\(gone.text)")
            #expect(try await second.profiles().isEmpty)
            #expect(Self.refusal(try await Self.send("GET", "serviceToken", second)) == ["400", "token_invalid", "get_new_token"])
            let fresh = try await Self.send("GET", "serviceToken", known)
            #expect(fresh.status == 200 && fresh.object["status"] as? String == "OK" && fresh.object["jws"] is String)
        }

        @Test("rest-v2 §1.3: an identity service's tokens serve those programmers alone that it is registered for")
        func identityService() async throws {
            let cluster = try TestCluster.running()
            let platform = StandInPlatform(exchange: cluster.exchange, address: ClusterAddresses(ports: cluster.ports).apple, account: "")
            let issuer = "https://identity.sandbox.example"
            let person = UUID().uuidString
            let token = try await platform.identityToken(["person": person, "issuer": issuer])
            try await Self.device(token: token).signIn()
            let other = try await platform.identityToken(["person": person, "issuer": issuer, "device": "d2", "audience": "Adobe"])
            #expect(try await Self.device(token: other).profiles()["NorthCable"]?["type"] as? String == "serviceTokenSSO")
            #expect(try await Self.device("BRAVO", token: token).profiles().isEmpty)
            let bad: [[String: any Sendable]] = [
                ["person": person, "issuer": "https://platform.sandbox.example"], ["person": person, "issuer": issuer, "audience": "else"],
                ["person": UUID().uuidString, "issuer": issuer],
            ]
            for order in bad { #expect(try await Self.device(token: platform.identityToken(order)).profiles().isEmpty, "\(order)") }
            // As a platform's token it says nothing.
            var asPlatform = try await V2Device.make()
            asPlatform.others = ["Adobe-Subject-Token": token]
            #expect(try await asPlatform.profiles().isEmpty)
            let own = try await Self.device(token: token)
            #expect(Self.refusal(try await Self.send("GET", "serviceToken", own)) == ["400", "token_invalid", "get_new_token"])
        }
    }
}
