import Foundation
import Testing

@testable import SandboxApple
@testable import SandboxKit
@testable import SandboxProviders
@testable import SandboxService
@testable import SandboxVendor

/// Registration, tokens and what they open (rest-v1 §3.1, §3.2; rest-v2 §1.3).
@Suite struct VendorClientTests {
    @Test func aStatementMakesAClient() async throws {
        try await VendorParty.run { vendor in
            let reply = try await vendor.register(try await vendor.statement())
            #expect(reply.status == 201 && reply.json["scopes"] as? [String] == ["api:client:v2"])
            #expect(reply.json["grant_types"] as? [String] == ["client_credentials"])
            #expect(reply.json["client_id_issued_at"] as? Int == 1_900_000_000)
            let token = try await vendor.token(try #require(reply["client_id"]), try #require(reply["client_secret"]))
            #expect(token.status == 201 && token["scope"] == "api:client:v2" && token.json["expires_in"] as? Int == 21_600)
            #expect(token["access_token"]?.split(separator: ".").count == 3)
        }
    }

    @Test func otherStatementsMakeNone() async throws {
        try await VendorParty.run { vendor in
            let statement = try await vendor.statement()
            #expect(try await vendor.register(statement + "A")["error"] == "invalid_software_statement")
            #expect(try await vendor.json("/o/client/register", [:], "{}")["error"] == "invalid_request")
            #expect(try await vendor.send(.post, "/o/client/register", [:], "{}")["error"] == "invalid_request")
            try await vendor.control(.delete, "statements/acme-v2")
            let refused = try await vendor.register(statement)
            #expect(refused.status == 400 && refused["error"] == "unapproved_software_statement")
        }
    }

    @Test func aClientNeedsItsSecretAndTheGrant() async throws {
        try await VendorParty.run { vendor in
            let app = try await vendor.app()
            #expect(try await vendor.token(app.id, "wrong")["error"] == "invalid_client")
            #expect(try await vendor.token("client-0", app.secret)["error"] == "invalid_client")
            let fields = [("client_id", app.id), ("client_secret", app.secret), ("grant_type", "password")]
            #expect(try await vendor.form("/o/client/token", [:], fields)["error"] == "unsupported_grant_type")
            let query = "?client_id=\(app.id)&client_secret=\(app.secret)&grant_type=client_credentials"
            #expect(try await vendor.send(.post, "/o/client/token\(query)").status == 201)
        }
    }

    @Test("rest-v2 #1, #2: a token is needed, and ends") func tokensEnd() async throws {
        try await VendorParty.run { vendor in
            let app = try await vendor.app()
            let missing = try await vendor.get("/api/v2/ACME1/profiles")
            #expect(missing.status == 401 && missing["code"] == "invalid_access_token_client_application")
            #expect(missing["action"] == "application-registration" && missing.json["status"] as? Int == 401)
            vendor.clock.advance(by: .seconds(21_599))
            #expect(try await vendor.get("/api/v2/ACME1/profiles", app.on()).status == 200)
            vendor.clock.advance(by: .seconds(1))
            #expect(try await vendor.get("/api/v2/ACME1/profiles", app.on()).status == 401)
        }
    }

    @Test("rest-v2 #3: a statement covers its service providers") func tokensHaveServiceProviders() async throws {
        try await VendorParty.run { vendor in
            try await vendor.control(.post, "statements", #"{"id": "bravo", "serviceProviders": ["BRAVOUP"]}"#)
            let app = try await vendor.app("bravo")
            #expect(try await vendor.get("/api/v2/ACME1/profiles", app.on())["code"] == "invalid_access_token_service_provider")
            #expect(try await vendor.get("/api/v2/BRAVOUP/profiles", app.on()).status == 200)
        }
    }

    @Test func aTokenNeedsItsScope() async throws {
        try await VendorParty.run { vendor in
            try await vendor.control(.post, "statements", #"{"id": "old", "scopes": ["api:client:v1"]}"#)
            let app = try await vendor.app("old")
            #expect(try await vendor.get("/api/v2/ACME1/profiles", app.on())["code"] == "invalid_access_token_client_application")
        }
    }

    @Test func aStatementFromElsewhereIsTakenByItsText() async throws {
        try await VendorParty.run { vendor in
            try await vendor.control(.post, "statements", #"{"id": "vendor", "text": "e30.e30.c2ln"}"#)
            #expect(try await vendor.register("e30.e30.c2ln").status == 201)
            #expect(try await vendor.register("e30.e30.c2lo")["error"] == "invalid_software_statement")
        }
    }

    @Test(arguments: [(401, "code", "invalid_access_token_client_application"), (403, "error", "invalid_client")])
    func aRevokedClientIsGone(_ status: Int, _ member: String, _ code: String) async throws {
        try await VendorParty.run { vendor in
            let app = try await vendor.app()
            try await vendor.control(.put, "behaviour", #"{"goneClientStatus": \#(status)}"#)
            #expect(try await vendor.control(.get, "clients").list.count == 1)
            try await vendor.control(.delete, "clients/\(app.id)")
            let reply = try await vendor.get("/api/v2/ACME1/profiles", app.on())
            #expect(reply.status == status && reply[member] == code)
            #expect(try await vendor.token(app.id, app.secret)["error"] == "invalid_client")
        }
    }

    @Test func aRevokedStatementLeavesItsClientsUnlessTold() async throws {
        try await VendorParty.run { vendor in
            let app = try await vendor.app()
            try await vendor.control(.delete, "statements/acme-v2")
            #expect(try await vendor.get("/api/v2/ACME1/profiles", app.on()).status == 200)
            try await vendor.control(.delete, "statements/acme-v2?clients=true")
            #expect(try await vendor.get("/api/v2/ACME1/profiles", app.on()).status == 401)
        }
    }

    @Test func tokensCanBeExpired() async throws {
        try await VendorParty.run { vendor in
            let app = try await vendor.app()
            try await vendor.control(.delete, "tokens?client=\(app.id)")
            #expect(try await vendor.get("/api/v2/ACME1/profiles", app.on()).status == 401)
            #expect(try await vendor.token(app.id, app.secret).status == 201)
            try await vendor.control(.put, "behaviour", #"{"tokenSeconds": 50, "dcrStatus": 200}"#)
            let short = try await vendor.token(app.id, app.secret)
            #expect(short.status == 200 && short.json["expires_in"] as? Int == 50)
        }
    }
}
