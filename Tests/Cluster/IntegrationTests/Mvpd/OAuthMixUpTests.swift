@testable import ClusterCommands
@testable import CommandKit
import Foundation
import Testing

extension MvpdTests {
    /// mvpd #91 over HTTP: a hostile provider leads a person on to the sandbox's honest one, which does not name itself.
    @Suite("OAuth mix-up", .serialized)
    struct OAuthMixUpTests {
        @Test("mvpd #91: the code of an honest provider does not go to the hostile one that led there, and nobody is signed in")
        func mixUp() async throws {
            let evil = "Evil\(UUID().uuidString.prefix(8))"
            try await add(evil)
            let (attacker, person) = (try await Device.make(), try await Device.make())
            let control = OAuthControl(cluster: person.cluster)
            try await control.behave(#""sendsIssuer": false"#)
            var (strange, browser) = (OAuthBrowser(attacker), OAuthBrowser(person))
            let wanted = try await strange.start(attacker.code())
            let begun = try await browser.start(person.code(), mvpd: evil)
            let state = try #require(begun.firstMatch(of: /[?&]state=([^&]+)/)?.1)
            // The hostile authorization endpoint answers the attacker's request, with the person's state.
            let lured = wanted.replacing(/state=[^&]*/, with: "state=\(state)")
            let callback = try await browser.logIn(at: lured, as: "ada")
            try await control.behave()
            #expect(callback.hasPrefix("\(person.cluster.gateway)/adobe-services/oauth2/OpenFiber?") && !callback.contains("iss="))
            let answer = try await browser.load("GET", callback)
            #expect(answer.status == 400 && answer.header("location") == nil, "\(answer.text)")
            #expect(try await person.checkAuthn() == 403)
            #expect(try await attacker.checkAuthn() == 403)
            // The check that failed is the callback's: before, it was the token endpoint's that had got the code.
            let reports = try await Administrator.fresh().send("GET", "/sign-ins?mvpd=\(evil)")
            #expect(reports.text.contains("oauth.callback"), "\(reports.text)")
        }

        private func add(_ mvpd: String) async throws {
            let local = try await Administrator.fresh()
            let base = "\(try MvpdTests.sandbox())/oauth/OpenFiber"
            let entry: [String: Any] = [
                "id": mvpd, "displayName": mvpd, "authzTtl": 3600, "authorization": ["protocol": "none"],
                "oauth": [
                    "issuer": "\(base)/evil", "authorizeUrl": "\(base)/authorize", "tokenUrl": "\(base)/token", "profileUrl": "\(base)/userinfo",
                    "clientId": "boxoffice", "clientSecretReference": "openfiber",
                ] as [String: Any],
            ]
            let created = try await local.send("POST", "/mvpds", entry)
            try #require(created.status == 201, "\(created.text)")
            let integrated = try await local.send("POST", "/integrations", ["requestor": "ACME1", "mvpd": mvpd, "metadataKeys": ["userID"]])
            try #require(integrated.status == 201, "\(integrated.text)")
            try await publish("a hostile provider", local)
        }
    }
}
