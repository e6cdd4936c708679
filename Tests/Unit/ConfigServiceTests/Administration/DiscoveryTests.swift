@testable import ConfigService
import Contracts
import Foundation
import Testing

/// The reading of a discovery document of OpenID Connect.
@Suite("Discovery documents")
struct DiscoveryTests {
    private static let address = "https://id.example/.well-known/openid-configuration"

    private static func document(_ more: [String: Any] = [:]) throws -> String {
        var members: [String: Any] = [
            "issuer": "https://id.example", "authorization_endpoint": "https://id.example/authorize", "token_endpoint": "https://id.example/token",
            "jwks_uri": "https://id.example/jwks", "userinfo_endpoint": "https://id.example/userinfo",
        ]
        members.merge(more) { $1 }
        return String(decoding: try JSONSerialization.data(withJSONObject: members.filter { !($0.value is NSNull) }), as: UTF8.self)
    }

    @Test("its addresses are the entry's")
    func reads() throws {
        let found = try #require(ProviderDiscovery(try Self.document(), from: Self.address)).contract
        #expect(found.problems.isEmpty && found.entityID == "https://id.example")
        #expect(found.endpoints.map(\.service) == ["authorization_endpoint", "token_endpoint", "jwks_uri", "userinfo_endpoint"])
        #expect(found.endpoints.map(\.location) == ["authorize", "token", "jwks", "userinfo"].map { "https://id.example/\($0)" })
        #expect(
            found.entryJson
                == #"{"oauth":{"authorizeUrl":"https://id.example/authorize","issuer":"https://id.example","jwksUrl":"https://id.example/jwks","#
                + #""profileUrl":"https://id.example/userinfo","scopes":["openid"],"tokenUrl":"https://id.example/token"}}"#)
        #expect(found.warnings.map(\.field) == ["end_session_endpoint", "clientId"])
    }

    @Test("RP-Initiated Logout 1.0 §3: of a provider with a logout browsers come back to our own address, which is registered with the others")
    func logout() throws {
        let document = try Self.document(["end_session_endpoint": "https://id.example/logout"])
        let found = try #require(ProviderDiscovery(document, from: Self.address)).contract
        #expect(found.entryJson.contains(#""logoutReturn":"own","logoutUrl":"https://id.example/logout""#), "\(found.entryJson)")
        #expect(found.warnings.map(\.field) == ["clientId"])
    }

    @Test("RFC 9207 §3: a provider that announces iss has to send it from then on")
    func announcedIssuer() throws {
        for (value, isAsked) in [(true, true), (false, false)] {
            let document = try Self.document(["authorization_response_iss_parameter_supported": value])
            let found = try #require(ProviderDiscovery(document, from: Self.address)).contract
            #expect(found.entryJson.contains(#""requiresIss":true"#) == isAsked)
        }
    }

    @Test("what is missing, foreign or not https keeps it from being taken")
    func refuses() throws {
        let cases: [([String: Any], String)] = [
            (["issuer": NSNull()], "issuer"), (["token_endpoint": NSNull()], "token_endpoint"),
            (["token_endpoint": "http://id.example/t"], "token_endpoint"),
            (["jwks_uri": NSNull(), "userinfo_endpoint": NSNull()], "jwks_uri"), (["issuer": "https://other.example"], "issuer"),
        ]
        for (more, field) in cases {
            let found = try #require(ProviderDiscovery(try Self.document(more), from: Self.address)).contract
            #expect(found.problems.map(\.field) == [field])
        }
        #expect(ProviderDiscovery("<xml/>", from: Self.address) == nil)
        #expect(ProviderDiscovery("[]", from: Self.address) == nil)
    }

    @Test("a client that can only be posted, and users that differ by client")
    func doubts() throws {
        let more: [String: Any] = ["token_endpoint_auth_methods_supported": ["client_secret_post"], "subject_types_supported": ["pairwise"]]
        let found = try #require(ProviderDiscovery(try Self.document(more), from: Self.address)).contract
        #expect(found.entryJson.contains(#""clientAuthentication":"post""#))
        #expect(found.warnings.contains { $0.field == "subject_types_supported" })
        let other = try Self.document(["token_endpoint_auth_methods_supported": ["private_key_jwt"]])
        let warned = try #require(ProviderDiscovery(other, from: Self.address)).contract.warnings
        #expect(warned.contains { $0.field == "token_endpoint_auth_methods_supported" })
    }
}
