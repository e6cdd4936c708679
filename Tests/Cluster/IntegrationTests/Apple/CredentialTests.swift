@testable import ClusterCommands
@testable import CommandKit
import Foundation
import Testing

extension AppleTests {
    /// The credentials by which the service authenticates to Apple.
    @Suite("Credentials at Apple")
    struct CredentialTests {
        @Test("apple §2.4: a client secret is the team's, for one client id and ten minutes")
        func clientSecret() async throws {
            let app = try await SignInApp.make()
            try await app.signedIn()
            let call = try #require(try await app.apple.entries("token").last)
            #expect(call.status == 200 && call.fields["client_id"] == "example.acme.tv" && call.fields["redirect_uri"] == nil)
            #expect(call.fields["client_secret.iss"] == "ACMETEAM01" && call.fields["client_secret.kid"] == "ACMESIGN01")
            #expect(call.fields["client_secret.sub"] == "example.acme.tv" && call.fields["client_secret.aud"] == "https://appleid.apple.com")
            #expect(Self.life(call.fields, of: "client_secret") == 600)
        }

        @Test("apple §1.3: the bearer at the App Store's server names the app and lives 20 minutes")
        func bearer() async throws {
            let (app, optIn) = try await AppleApp.optedIn()
            let apple = try StandInApple.running()
            let before = try await apple.count("delete")
            #expect(try await app.optOut(optIn.family).status == 200)
            try await Condition.wait("Apple deletes the value", within: .seconds(30)) { try await apple.count("delete") > before }
            let call = try #require(try await apple.entries("delete").last)
            #expect(call.status == 204 && call.fields["bearer.bid"] == "example.acme.tv" && call.fields["bearer.aud"] == "appstoreconnect-v1")
            #expect(call.fields["bearer.kid"] == "ACMEPURCH1" && call.fields["bearer.iss"] == "7d1f6d6e-0d1b-4c39-9e29-7d6a4f1f0c11")
            #expect(Self.life(call.fields, of: "bearer") == 1200)
        }

        /// Seconds.
        private static func life(_ fields: [String: String], of token: String) -> Int? {
            guard let start = fields["\(token).iat"].flatMap(Int.init), let end = fields["\(token).exp"].flatMap(Int.init) else { return nil }
            return end - start
        }
    }
}
