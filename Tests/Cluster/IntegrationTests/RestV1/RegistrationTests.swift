@testable import ClusterCommands
@testable import CommandKit
import Foundation
import Testing

extension RestV1Tests {
    @Suite("Registration and tokens")
    struct RegistrationTests {
        @Test("rest-v1 #1: a valid statement registers a client with all six fields")
        func validStatement() async throws {
            let statement = try Client.statement("acme-tv")
            let answer = try await register(["software_statement": statement, "redirect_uri": "https://www.acme.example/back"])
            #expect(answer.status == 201)
            #expect(answer.isJSON)
            #expect(answer.header("cache-control") == "no-store")
            #expect(
                Set(answer.object.keys) == ["client_id", "client_secret", "client_id_issued_at", "redirect_uris", "grant_types", "scopes"])
            let issued = try #require(answer.object["client_id_issued_at"] as? Double)
            #expect(abs(Date().timeIntervalSince1970 - issued) < 60)
            #expect(answer.object["grant_types"] as? [String] == ["client_credentials"])
            #expect(answer.object["redirect_uris"] as? [String] == ["https://www.acme.example/back"])
            #expect(answer.object["scopes"] as? [String] == ["api:client:v1", "api:client:v2"])
        }

        @Test("rest-v1 #2: no statement is an invalid request")
        func noStatement() async throws {
            let answer = try await register(["redirect_uri": "https://www.acme.example/back"])
            #expect(answer.status == 400 && answer.oauthError == "invalid_request")
        }

        @Test("rest-v1 #3: a statement with a broken signature is invalid")
        func brokenSignature() async throws {
            var parts = try Client.statement("acme-tv").split(separator: ".").map(String.init)
            parts[2] = String(parts[2].reversed())
            let answer = try await register(["software_statement": parts.joined(separator: ".")])
            #expect(answer.status == 400 && answer.oauthError == "invalid_software_statement")
        }

        @Test("rest-v1 #4: a well signed statement of an unknown software_id is unapproved")
        func unknownSoftware() async throws {
            let statement = try ResignedToken.make(
                from: try Client.statement("acme-tv"), key: "statement.key", claims: ["software_id": "withdrawn"])
            let answer = try await register(["software_statement": statement])
            #expect(answer.status == 400 && answer.oauthError == "unapproved_software_statement")
        }

        @Test("rest-v1 #5: a foreign redirect_uri is refused")
        func foreignRedirect() async throws {
            let statement = try Client.statement("acme-tv")
            let answer = try await register(["software_statement": statement, "redirect_uri": "https://foreign.example/back"])
            #expect(answer.status == 400 && answer.oauthError == "invalid_redirect_uri")
        }

        @Test("rest-v1 #6: good credentials give an access token")
        func goodCredentials() async throws {
            let answer = try await token(try await Client.register("acme-tv").fields)
            #expect(answer.status == 201)
            #expect(answer.header("cache-control") == "no-store")
            let created = try #require(answer.object["created_at"] as? Double)
            #expect(abs(Date().timeIntervalSince1970 * 1000 - created) < 60_000)
            #expect(answer.object["expires_in"] as? Int == 21_600)
            #expect(answer.object["token_type"] as? String == "bearer")
            #expect((answer.object["access_token"] as? String)?.isEmpty == false)
            #expect((answer.object["id"] as? String)?.isEmpty == false)
        }

        @Test("rest-v1 #7: a wrong secret is an invalid client")
        func wrongSecret() async throws {
            let client = Client(id: try await Client.register("acme-tv").id, secret: "wrong")
            let answer = try await token(client.fields)
            #expect(answer.status == 400 && answer.oauthError == "invalid_client")
        }

        @Test("rest-v1 #8: another grant type is not supported")
        func passwordGrant() async throws {
            let client = try await Client.register("acme-tv")
            let answer = try await token([("client_id", client.id), ("client_secret", client.secret), ("grant_type", "password")])
            #expect(answer.status == 400 && answer.oauthError == "unsupported_grant_type")
        }

        @Test("rest-v1 #9: client_id sent twice is an invalid request")
        func repeatedClient() async throws {
            let client = try await Client.register("acme-tv")
            let answer = try await token(client.fields + [("client_id", client.id)])
            #expect(answer.status == 400 && answer.oauthError == "invalid_request")
        }

        @Test("rest-v1 #10: an expired bearer authorizes nothing, and the MVPD is not asked")
        func expiredBearer() async throws {
            let (device, sandbox) = (try await Device.make(), try SandboxControl.running())
            try await device.signIn()
            let asked = try await sandbox.decisions()
            let call = device.call("/api/v1/authorize", ["resource": "ACME1-NEWS"])
            let now = Int(Date().timeIntervalSince1970)
            for (end, status) in [(now - 120, 401), (now + 120, 200)] {
                let bearer = try ResignedToken.make(from: device.accessToken, key: "access-token.key", claims: ["exp": end])
                let answer = try await device.cluster.send(call.with { $0.headers["Authorization"] = "Bearer \(bearer)" })
                #expect(answer.status == status, "\(answer.text)")
                guard status == 401 else { continue }
                #expect(answer.oauthError == "access_denied" && answer.header("cache-control") == "no-store")
                #expect(try await sandbox.decisions() == asked)
            }
        }

        @Test("rest-v1 #12: a token of one programmer's application is of no use at another's requestor")
        func foreignRequestor() async throws {
            let device = try await Device.make("ACME1").at("BRAVO")
            let answer = try await device.get("/api/v1/checkauthn")
            #expect(answer.status == 403 && answer.oauthError == "insufficient_scope")
        }

        @Test("rest-v1 #97: the token's parameters may stand in the query when there is no body")
        func parametersInQuery() async throws {
            let client = try await Client.register("acme-tv")
            let query = Dictionary(uniqueKeysWithValues: client.fields)
            let answer = try await TestCluster.running().send(
                Call("POST", "/o/client/token", query: query, headers: ["Content-Type": "application/json"]))
            #expect(answer.status == 201)
        }

        @Test("rest-v1 #98: device information that is no valid JSON does not hinder a registration")
        func invalidDeviceInformation() async throws {
            let broken = Device.encoded("{\"model\": \"TV\" \"osName\": \"Linux\"}")
            let call = try Call.json(
                "/o/client/register", ["software_statement": try Client.statement("acme-tv")], headers: ["X-Device-Info": broken])
            #expect(try await TestCluster.running().send(call).status == 201)
        }

        private func register(_ body: [String: String]) async throws -> HTTPAnswer {
            try await TestCluster.running().send(.json("/o/client/register", body))
        }

        private func token(_ fields: [(String, String)]) async throws -> HTTPAnswer {
            try await TestCluster.running().send(.form("/o/client/token", fields))
        }
    }
}
