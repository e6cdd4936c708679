import Foundation
import Hummingbird
import HummingbirdTesting
import Testing

@testable import SandboxApple
@testable import SandboxKit
@testable import SandboxProviders
@testable import SandboxService
@testable import SandboxVendor

/// The stand-in as the administrators' identity provider.
@Suite struct StaffTests {
    private static let callback = "http://127.0.0.1:8081/console/sign-in/return"
    private static let verifier = String(repeating: "v", count: 43)

    private let fixture = Fixture()
    private let settings: String

    init() throws {
        try Data("s3cret\n".utf8).write(to: Keys.shared.folder.appending(path: "staff.secret"), options: .atomic)
        settings = Fixture.settings(
            extra:
                #", "staff": {"key": "lake.key", "certificate": "lake.crt", "clients": [{"id": "console", "secret": "staff.secret", "redirectURIs": ["\#(Self.callback)"]}]}"#
        )
    }

    private static func authorize(_ redirect: String = callback) -> String {
        let challenge = Base64.urlText(Digest.sha256(Array(verifier.utf8)))
        return "/staff/authorize?response_type=code&client_id=console&redirect_uri=\(AuthnRequestText.encoded(redirect))&state=st&nonce=no"
            + "&scope=openid%20email&code_challenge=\(challenge)&code_challenge_method=S256"
    }

    private func post(_ client: any TestClientProtocol, _ uri: String, _ fields: [(String, String)], _ headers: HTTPFields = [:]) async throws
        -> TestResponse
    {
        let form = fields.map { "\($0)=\(AuthnRequestText.encoded($1))" }.joined(separator: "&")
        return try await client.executeRequest(uri: uri, method: .post, headers: headers, body: ByteBuffer(string: form))
    }

    private func answer(_ client: any TestClientProtocol, _ person: String) async throws -> [String: String] {
        let page = try await client.executeRequest(uri: Self.authorize(), method: .get, headers: [:], body: nil)
        let html = Browser.Page(status: .ok, html: String(buffer: page.body))
        #expect(html.html.contains("Edda Editor") && html.html.contains("editors, acme"))
        let reply = try await post(client, "/staff/choose", [("state", html.field("state") ?? ""), ("person", person)])
        let location = try #require(reply.headers[.location])
        #expect(location.hasPrefix(Self.callback + "?"))
        let items = URLComponents(string: location)?.queryItems ?? []
        return Dictionary(items.map { ($0.name, $0.value ?? "") }) { first, _ in first }
    }

    @Test("whoever is chosen signs in once, with roles and programmers in the token")
    func signsIn() async throws {
        try await fixture.run(settings) { client async throws -> Void in
            let found = try await client.executeRequest(uri: "/staff/.well-known/openid-configuration", method: .get, headers: [:], body: nil)
            let document = try JSONSerialization.jsonObject(with: Data(String(buffer: found.body).utf8)) as? [String: Any]
            #expect(document?["issuer"] as? String == "\(Fixture.publicURL)/staff")
            #expect(document?["jwks_uri"] as? String == "\(Fixture.publicURL)/staff/jwks")
            let back = try await answer(client, "edda@staff.example")
            #expect(back["state"] == "st" && back["iss"] == "\(Fixture.publicURL)/staff")
            let fields = [
                ("grant_type", "authorization_code"), ("code", back["code"] ?? ""), ("redirect_uri", Self.callback), ("code_verifier", Self.verifier),
            ]
            let basic: HTTPFields = [.authorization: "Basic " + Data("console:s3cret".utf8).base64EncodedString()]
            #expect(try await post(client, "/staff/token", fields).status == .unauthorized)
            let reply = try await post(client, "/staff/token", fields, basic)
            #expect(reply.status == .ok)
            let json = try JSONSerialization.jsonObject(with: Data(String(buffer: reply.body).utf8)) as? [String: Any]
            let token = try #require(json?["id_token"] as? String).split(separator: ".")
            let claims = try JSONSerialization.jsonObject(with: Data(try #require(Base64.urlOctets(String(token[1]))))) as? [String: Any]
            #expect(claims?["roles"] as? [String] == ["editors"] && claims?["programmers"] as? [String] == ["acme"])
            #expect(claims?["nonce"] as? String == "no" && claims?["aud"] as? String == "console" && claims?["email_verified"] as? Bool == true)
            #expect(try await post(client, "/staff/token", fields, basic).status == .badRequest)
        }
    }

    @Test("nobody is signed in who cancels, and nothing goes to an address that is not the client's")
    func refuses() async throws {
        try await fixture.run(settings) { client async throws -> Void in
            #expect(try await answer(client, "")["error"] == "access_denied")
            let foreign = Self.authorize("https://evil.example/")
            #expect(try await client.executeRequest(uri: foreign, method: .get, headers: [:], body: nil).status == .badRequest)
        }
    }
}
