import Clocks
import Foundation
import Hummingbird
import HummingbirdTesting
import Logging
import ManualClocks
import Testing

@testable import SandboxApple
@testable import SandboxKit
@testable import SandboxProviders
@testable import SandboxService
@testable import SandboxVendor

/// The stand-in Apple on a socket, with two teams, and its callers.
struct AppleParty: Sendable {
    static let issuer = "7d1f6d6e-0d1b-4c39-9e29-7d6a4f1f0c11"
    static let callback = "http://127.0.0.1:8080/apple/v1/callback"
    static let native = "/_device/accounts/ann/apps/example.acme.tv"

    struct Reply: @unchecked Sendable {
        let status: Int
        let headers: HTTPFields
        let text: String

        // Sendable: JSON values are not changed once they are read.
        var json: [String: Any] { (try? JSONSerialization.jsonObject(with: Data(text.utf8))) as? [String: Any] ?? [:] }
        var list: [[String: Any]] { (try? JSONSerialization.jsonObject(with: Data(text.utf8))) as? [[String: Any]] ?? [] }

        subscript(_ name: String) -> String? { json[name] as? String }
    }

    let client: any TestClientProtocol
    let clock: ManualClock

    /// - Parameter seed: RSA keys of one seed are made once.
    static func run(seed: String = "unit", _ test: @Sendable (AppleParty) async throws -> Void) async throws {
        var logger = Logger(label: "sandbox")
        logger.logLevel = .critical
        let clock = ManualClock(Timestamp(seconds: 1_900_000_000))
        let sandbox = try await Sandbox(settings: try Fixture.read(Fixture.settings(extra: settings(seed))), clock: clock, logger: logger)
        try await (try #require(sandbox.appleApplication())).test(.live) { client in
            try await test(AppleParty(client: client, clock: clock))
        }
    }

    static func settings(_ seed: String? = nil) -> String {
        """
        , "apple": {"listen": {"address": "127.0.0.1", "port": 0}, "identityIssuer": "https://platform.example", "identityKey": "stranger.key",
        "providers": []\(seed.map { #", "seed": "\#($0)""# } ?? ""), "teams": [
          {"id": "ACMETEAM01", "signInKeys": [{"id": "ACMESIGN01", "file": "acme-sign-in.pub"}], "issuer": "\(issuer)",
           "purchaseKeys": [{"id": "ACMEPURCH1", "file": "acme-purchase.pub"}],
           "groups": [{"id": "example.acme.tv", "bundleIDs": ["example.acme.tv", "example.acme.sports"],
                       "servicesIDs": [{"id": "example.acme.web", "redirectURLs": ["\(callback)"]}]},
                      {"id": "example.acme.radio", "bundleIDs": ["example.acme.radio"]}]},
          {"id": "BRAVOTEAM1", "signInKeys": [{"id": "BRAVOSIGN1", "file": "bravo-sign-in.pub"}], "issuer": "bravo",
           "purchaseKeys": [{"id": "BRAVOPURC1", "file": "bravo-purchase.pub"}],
           "groups": [{"id": "example.bravo.tv", "bundleIDs": ["example.bravo.tv"]}]}]}
        """
    }

    // MARK: Calls

    func send(_ method: HTTPRequest.Method, _ uri: String, _ body: String? = nil, _ headers: HTTPFields = [:]) async throws -> Reply {
        let response = try await client.executeRequest(uri: uri, method: method, headers: headers, body: body.map { ByteBuffer(string: $0) })
        return Reply(status: response.status.code, headers: response.headers, text: String(buffer: response.body))
    }

    func post(_ uri: String, _ json: String = "") async throws -> Reply { try await send(.post, uri, json, [.contentType: "application/json"]) }

    func get(_ uri: String) async throws -> Reply { try await send(.get, uri) }

    func control(_ path: String, _ json: String, _ method: HTTPRequest.Method = .post) async throws {
        let reply = try await send(method, "/_control/\(path)", json)
        try #require((200...204).contains(reply.status), "\(reply.text)")
    }

    func set(device: String, _ json: String) async throws {
        let reply = try await send(.put, "/_device/devices/\(device)", json)
        try #require(reply.status == 204, "\(reply.text)")
    }

    /// A call to `/appleid/auth/…` with a form.
    func form(
        _ endpoint: String, _ fields: [(String, String)], client: String = "example.acme.tv", secret: String? = nil, headers: HTTPFields = [:]
    ) async throws -> Reply {
        let credential = try secret ?? TeamToken.secret(client, team: client.contains("bravo") ? "BRAVOTEAM1" : "ACMETEAM01", now: clock.now()).text()
        let all = fields + [("client_id", client), ("client_secret", credential)]
        return try await raw(endpoint, Self.encoded(all), headers)
    }

    func raw(_ endpoint: String, _ body: String, _ headers: HTTPFields = [:], type: String = "application/x-www-form-urlencoded") async throws
        -> Reply
    {
        var headers = headers
        headers[.contentType] = type
        return try await send(.post, "/appleid/auth/\(endpoint)", body, headers)
    }

    static func encoded(_ fields: [(String, String)]) -> String {
        fields.map { "\($0.0)=\(AuthnRequestText.encoded($0.1))" }.joined(separator: "&")
    }

    func signIn(_ path: String = native, _ body: String = "{}") async throws -> Reply {
        let reply = try await post("\(path)/signin", body)
        try #require(reply.status == 200, "\(reply.text)")
        return reply
    }

    func exchange(_ code: String, client: String = "example.acme.tv", redirect: String? = nil) async throws -> Reply {
        let fields = [("grant_type", "authorization_code"), ("code", code)] + (redirect.map { [("redirect_uri", $0)] } ?? [])
        return try await form("token", fields, client: client)
    }

    /// A refresh token of a person at a client.
    func refreshToken(_ path: String = native, client: String = "example.acme.tv") async throws -> String {
        let code = try #require(try await signIn(path)["code"])
        return try #require(try await exchange(code, client: client)["refresh_token"])
    }

    /// A call to the App Store's server.
    func store(
        _ call: String, _ body: String, prefix: String = "/storekit", _ change: (inout TeamToken) -> Void = { _ in }
    ) async throws -> Int {
        var token = TeamToken.purchase(now: clock.now())
        change(&token)
        let headers: HTTPFields = [.contentType: "application/json", .authorization: "Bearer \(try token.text())"]
        let reply = try await send(.post, "\(prefix)/account/v1/autoSignIn/\(call)", body, headers)
        #expect(reply.text.isEmpty)
        return reply.status
    }

    static func claims(_ token: String?) throws -> [String: Any] {
        let parts = try #require(token).split(separator: ".").map(String.init)
        try #require(parts.count > 1)
        let octets = try #require(Base64.urlOctets(parts[1]))
        return try #require(try JSONSerialization.jsonObject(with: Data(octets)) as? [String: Any])
    }

    static func header(_ token: String?) throws -> [String: Any] {
        let part = try #require(token).prefix { $0 != "." }
        let octets = try #require(Base64.urlOctets(String(part)))
        return try #require(try JSONSerialization.jsonObject(with: Data(octets)) as? [String: Any])
    }
}
