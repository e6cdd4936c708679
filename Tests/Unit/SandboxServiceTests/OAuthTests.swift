import Foundation
import Hummingbird
import HummingbirdTesting
import Testing

@testable import SandboxApple
@testable import SandboxKit
@testable import SandboxProviders
@testable import SandboxService
@testable import SandboxVendor

/// The stand-in as an OAuth 2.0 and OpenID provider (mvpd §5 item 3).
@Suite struct OAuthTests {
    private static let callback = "http://127.0.0.1:8080/adobe-services/oauth2"
    private static let verifier = String(repeating: "v", count: 43)

    private let fixture = Fixture()
    private let settings: String

    init() throws {
        try Data("s3cret\n".utf8).write(to: Keys.shared.folder.appending(path: "client.secret"), options: .atomic)
        settings = Fixture.settings(
            northcable:
                #", "oauth": {"nextKey": "lake.key", "nextCertificate": "lake.crt", "clients": [{"id": "boxoffice", "secret": "client.secret", "redirectURIs": ["\#(Self.callback)"]}]}"#
        )
    }

    private struct Reply {
        let status: HTTPResponse.Status
        let location: [String: String]
        let text: String
        let cookie: String?

        var json: [String: Any] { (try? JSONSerialization.jsonObject(with: Data(text.utf8))) as? [String: Any] ?? [:] }

        init(_ response: TestResponse) {
            status = response.status
            text = String(buffer: response.body)
            cookie = response.headers[.setCookie]?.split(separator: ";").first.map(String.init)
            let items = response.headers[.location].flatMap { URLComponents(string: $0)?.queryItems } ?? []
            location = Dictionary(items.map { ($0.name, $0.value ?? "") }) { first, _ in first }
        }
    }

    private static func challenge(_ verifier: String) -> String { Base64.urlText(Digest.sha256(Array(verifier.utf8))) }

    private func authorizeURI(_ changes: [String: String?] = [:]) -> String {
        var parameters: [String: String?] = [
            "response_type": "code", "client_id": "boxoffice", "redirect_uri": Self.callback, "state": "st", "nonce": "no", "scope": "openid",
            "code_challenge": Self.challenge(Self.verifier), "code_challenge_method": "S256",
        ]
        parameters.merge(changes) { $1 }
        let pairs = parameters.compactMap { name, value in value.map { "\(name)=\(AuthnRequestText.encoded($0))" } }
        return "/oauth/NorthCable/authorize?" + pairs.joined(separator: "&")
    }

    private func get(_ client: any TestClientProtocol, _ uri: String, _ headers: HTTPFields = [:]) async throws -> Reply {
        Reply(try await client.executeRequest(uri: uri, method: .get, headers: headers, body: nil))
    }

    private func post(_ client: any TestClientProtocol, _ uri: String, _ fields: [(String, String)], _ headers: HTTPFields = [:]) async throws
        -> Reply
    {
        let form = fields.map { "\($0)=\(AuthnRequestText.encoded($1))" }.joined(separator: "&")
        return Reply(try await client.executeRequest(uri: uri, method: .post, headers: headers, body: ByteBuffer(string: form)))
    }

    private func control(
        _ client: any TestClientProtocol, _ uri: String, _ message: String, gives status: HTTPResponse.Status = .noContent
    ) async throws {
        let reply = try await client.executeRequest(uri: uri, method: .post, headers: [:], body: ByteBuffer(string: message))
        #expect(reply.status == status)
    }

    private func code(_ client: any TestClientProtocol) async throws -> String {
        let page = Browser.Page(status: .ok, html: try await get(client, authorizeURI()).text)
        let fields = [("state", page.field("state") ?? ""), ("username", "ada"), ("password", "ada"), ("action", "sign-in")]
        let reply = try await post(client, "/oauth/NorthCable/login", fields)
        #expect(reply.status == .found && reply.location["state"] == "st" && reply.location["iss"] == "\(Fixture.publicURL)/oauth/NorthCable")
        return try #require(reply.location["code"])
    }

    private func redeem(_ client: any TestClientProtocol, _ code: String, _ changes: [String: String] = [:]) async throws -> Reply {
        var fields = [
            "grant_type": "authorization_code", "code": code, "redirect_uri": Self.callback, "code_verifier": Self.verifier, "client_id": "boxoffice",
            "client_secret": "s3cret",
        ]
        fields.merge(changes) { $1 }
        return try await post(client, "/oauth/NorthCable/token", fields.map { ($0.key, $0.value) })
    }

    @Test func givesTokensForACodeOnce() async throws {
        try await fixture.run(settings) { client async throws -> Void in
            let code = try await code(client)
            let tokens = try await redeem(client, code)
            #expect(tokens.status == .ok && tokens.json["token_type"] as? String == "Bearer" && tokens.json["expires_in"] as? Int == 600)
            let identity = try #require(tokens.json["id_token"] as? String).split(separator: ".")
            let claims = try JSONSerialization.jsonObject(with: Data(try #require(Base64.urlOctets(String(identity[1]))))) as? [String: Any]
            #expect(claims?["nonce"] as? String == "no" && claims?["aud"] as? String == "boxoffice" && claims?["hba_status"] as? Bool == false)
            let access = try #require(tokens.json["access_token"] as? String)
            let profile = try await get(client, "/oauth/NorthCable/userinfo", [.authorization: "Bearer \(access)"])
            #expect(profile.json["sub"] as? String == claims?["sub"] as? String && (profile.json["zip"] as? [String])?.isEmpty == false)
            // A second use takes back what the first one gave (RFC 6749 §4.1.2).
            #expect(try await redeem(client, code).json["error"] as? String == "invalid_grant")
            #expect(try await get(client, "/oauth/NorthCable/userinfo", [.authorization: "Bearer \(access)"]).status == .unauthorized)
        }
    }

    @Test(
        "a code is good for its client, address and verifier alone",
        arguments: [
            ("code_verifier", String(repeating: "w", count: 43), "invalid_grant"), ("code_verifier", "", "invalid_grant"),
            ("redirect_uri", "http://127.0.0.1:8080/", "invalid_grant"), ("client_secret", "wrong", "invalid_client"),
            ("client_id", "stranger", "invalid_client"), ("code", "x", "invalid_grant"), ("grant_type", "password", "unsupported_grant_type"),
        ])
    func refusesForeignCodes(name: String, value: String, error: String) async throws {
        try await fixture.run(settings) { client async throws -> Void in
            #expect(try await redeem(client, try await code(client), [name: value]).json["error"] as? String == error)
        }
    }

    @Test func refusesRequestsThatItCannotTrust() async throws {
        try await fixture.run(settings) { client async throws -> Void in
            #expect(try await get(client, authorizeURI(["redirect_uri": "https://evil.example/"])).status == .badRequest)
            #expect(try await get(client, authorizeURI(["client_id": "stranger"])).status == .badRequest)
            #expect(try await get(client, authorizeURI(["code_challenge": nil])).location["error"] == "invalid_request")
            #expect(try await get(client, authorizeURI(["code_challenge_method": "plain"])).location["error"] == "invalid_request")
            #expect(try await get(client, authorizeURI(["response_type": "token"])).location["error"] == "unsupported_response_type")
            #expect(try await get(client, "/oauth/LakeTel/jwks").status == .notFound)
        }
    }

    @Test func refreshesWithAndWithoutRotation() async throws {
        try await fixture.runLive(settings) { client async throws -> Void in
            let first = try await redeem(client, try await code(client))
            let token = try #require(first.json["refresh_token"] as? String)
            let change = ["grant_type": "refresh_token", "refresh_token": token]
            for _ in 0..<2 {
                let fresh = try await redeem(client, "", change)
                #expect(fresh.status == .ok && fresh.json["refresh_token"] == nil && fresh.json["access_token"] as? String != nil)
            }
            try await control(client, "/control/oauth/NorthCable", #"{"rotatesRefreshTokens": true}"#)
            let rotated = try #require(try await redeem(client, "", change).json["refresh_token"] as? String)
            #expect(try await redeem(client, "", change).json["error"] as? String == "invalid_grant")
            #expect(try await redeem(client, "", ["grant_type": "refresh_token", "refresh_token": rotated]).status == .ok)
        }
    }

    @Test func rotatesItsKeysAndMisbehavesWhenTold() async throws {
        try await fixture.runLive(settings) { client async throws -> Void in
            let before = try await get(client, "/oauth/NorthCable/jwks").text
            try await control(client, "/control/oauth/NorthCable/rotate-keys", "")
            let after = try await get(client, "/oauth/NorthCable/jwks").text
            #expect(before != after && after.contains(#""kty":"RSA""#))
            try await control(client, "/control/oauth/NorthCable", #"{"mode": "loud"}"#, gives: .badRequest)
            try await control(client, "/control/oauth/NorthCable", #"{"mode": "error", "endpoint": "jwks"}"#)
            #expect(try await get(client, "/oauth/NorthCable/jwks").status == .internalServerError)
            #expect(try await get(client, authorizeURI()).status == .ok)
            try await control(client, "/control/reset", "")
            #expect(try await get(client, "/oauth/NorthCable/jwks").text == before)
        }
    }

    @Test func asksNobodyWhenToldSo() async throws {
        try await fixture.runLive(settings) { client async throws -> Void in
            #expect(try await get(client, authorizeURI(["prompt": "none"])).location["error"] == "login_required")
            try await control(client, "/control/home/NorthCable", #"{"addresses": ["127.0.0.1"], "person": "ada"}"#)
            let home = try await get(client, authorizeURI(["prompt": "none"]))
            let profile = try await redeem(client, try #require(home.location["code"]))
            let access = try #require(profile.json["access_token"] as? String)
            let claims = try await get(client, "/oauth/NorthCable/userinfo", [.authorization: "Bearer \(access)"])
            #expect(claims.json["hba_status"] as? Bool == true)
        }
    }

    @Test func forgetsTheBrowserAtLogout() async throws {
        try await fixture.run(settings) { client async throws -> Void in
            let uri = "/oauth/NorthCable/logout?client_id=boxoffice&post_logout_redirect_uri="
            let reply = try await get(client, uri + AuthnRequestText.encoded("https://acme.example/?a=b"))
            #expect(reply.status == .found && reply.location["a"] == "b" && reply.cookie == "sandbox-oauth-NorthCable=")
            #expect(try await get(client, uri + "javascript:alert(1)").status == .badRequest)
        }
    }
}
