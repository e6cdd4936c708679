@testable import ClusterCommands
@testable import CommandKit
import Foundation
import Testing

extension RestV1Tests {
    /// Every branch of the cookbook, played by an app against the cluster and the sandbox's framework.
    @Suite("Platform sign-in by the cookbook")
    struct CookbookTests {
        /// The state of the Apple account, and the step at which the cookbook then ends.
        struct Branch: Sendable, CustomTestStringConvertible {
            let name: String
            var account: [String: any Sendable]
            let end: CookbookApp.End
            var beforeQuery: [String: any Sendable]?
            var deviceType = "tvOS"

            init(
                _ name: String, _ account: [String: any Sendable], beforeQuery: [String: any Sendable]? = nil, _ end: CookbookApp.End,
                deviceType: String = "tvOS"
            ) {
                self.name = name
                self.account = ["access": "granted"].merging(account) { $1 }
                self.end = end
                self.beforeQuery = beforeQuery
                self.deviceType = deviceType
            }

            var testDescription: String { name }
        }

        static let known: [String: any Sendable] = ["access": "granted", "provider": "north-cable"]

        static let branches: [Branch] = [
            // Step 2.
            Branch("permission never asked", ["access": "notDetermined", "provider": "north-cable"], .ordinary(preselected: nil)),
            Branch("permission denied", ["access": "denied", "provider": "north-cable"], .ordinary(preselected: nil)),
            Branch("permission restricted", ["access": "restricted", "provider": "north-cable"], .ordinary(preselected: nil)),
            Branch("signed in at the platform", known, .exchanged),
            Branch("signed in at the platform, on a phone", known, .exchanged, deviceType: "iOS"),
            Branch("the provider is none of the catalogue", known.merging(["flaw": "otherProvider"]) { $1 }, .ordinary(preselected: nil)),
            // Step 4.
            Branch("the person signs in at the platform", ["pick": "north-cable"], .exchanged),
            Branch(
                "the platform's login is over and is renewed", ["provider": "north-cable", "authenticationSeconds": -60], .exchanged),
            Branch("the person picks an MVPD that the platform only lists", ["pick": "lake-tel"], .ordinary(preselected: "LakeTel")),
            Branch("the person picks a provider that the app does not know", ["pick": "elsewhere-tv"], .ordinary(preselected: nil)),
            Branch("the person cancels, or picks no provider", [:], .ordinary(preselected: nil)),
            Branch("the platform is out of order", ["error": 3], .ordinary(preselected: nil)),
            Branch("the provider refuses the app", ["error": 4], .ordinary(preselected: nil)),
            // Step 5.
            Branch("the login at the platform is over at once", ["pick": "north-cable", "flaw": "expiredLogin"], .ordinary(preselected: nil)),
            // Step 6.
            Branch("the profile request is refused", known, .ordinary(preselected: nil), deviceType: "tvos"),
            // Step 7.
            Branch(
                "permission is withdrawn meanwhile", known, beforeQuery: ["access": "denied", "provider": "north-cable"],
                .ordinary(preselected: nil)),
            Branch(
                "another provider answers", known, beforeQuery: known.merging(["flaw": "otherProvider"]) { $1 }, .ordinary(preselected: nil)),
            Branch("the MVPD does not answer", known.merging(["flaw": "noAnswer"]) { $1 }, .ordinary(preselected: nil)),
            // Steps 8 and 9.
            Branch("the answer has white space around it", known.merging(["flaw": "surroundingSpace"]) { $1 }, .exchanged),
            Branch("the MVPD refuses the person", known.merging(["flaw": "declined"]) { $1 }, .ordinary(preselected: nil)),
            Branch("the answer is not signed", known.merging(["flaw": "unsigned"]) { $1 }, .ordinary(preselected: nil)),
            Branch("the answer is signed by another MVPD", known.merging(["flaw": "foreignSigner"]) { $1 }, .ordinary(preselected: nil)),
            Branch("the answer is old", known.merging(["flaw": "stale"]) { $1 }, .ordinary(preselected: nil)),
            Branch("the answer is to another request", known.merging(["flaw": "foreignRequest"]) { $1 }, .ordinary(preselected: nil)),
            Branch("the answer is for another service", known.merging(["flaw": "foreignAudience"]) { $1 }, .ordinary(preselected: nil)),
            Branch("the answer lacks a field", known.merging(["flaw": "missingAttribute"]) { $1 }, .ordinary(preselected: nil)),
            Branch("the answer is pretty-printed", known.merging(["flaw": "prettyPrinted"]) { $1 }, .ordinary(preselected: nil)),
            Branch("the answer has line breaks in its tags", known.merging(["flaw": "brokenAttributes"]) { $1 }, .ordinary(preselected: nil)),
        ]

        @Test("rest-v1 §4.4: each branch ends where the cookbook says, and a person gets in there", arguments: branches)
        func branch(_ branch: Branch) async throws {
            var app = try await CookbookApp.make(branch.deviceType)
            app.beforeQuery = branch.beforeQuery
            try await app.platform.set(branch.account)
            let end = try await app.play()
            #expect(end == app.expected(branch.end))
            if case .ordinary(let mvpd) = end {
                #expect(try await app.device.checkAuthn() == 403)
                try await app.device.signIn(at: mvpd ?? "NorthCable")
            }
            #expect(try await app.device.checkAuthn() == 200)
            #expect(try await app.device.authorize("ACME1-NEWS").status == 200)
            #expect(try await app.device.mediaToken("ACME1-NEWS").status == 200)
        }

        @Test("rest-v1 §4.4: a session that is there lasts, whatever the platform says", arguments: ["denied", "granted"])
        func keepsSession(_ access: String) async throws {
            let app = try await CookbookApp.make()
            try await app.device.signIn()
            try await app.platform.set(["access": access, "provider": "north-cable", "authenticationSeconds": -60])
            #expect(try await app.play() == .signedIn)
        }

        @Test("rest-v1 §4.4: an expired session is renewed silently while the platform's login lasts")
        func renewsSilently() async throws {
            let app = try await CookbookApp.make()
            try await app.device.signInBriefly()
            try await Condition.wait("the session expires") { try await app.device.authnToken().status == 410 }
            try await app.platform.set(Self.known)
            #expect(try await app.play() == app.expected(.exchanged))
            #expect(try await app.device.authnToken().status == (app.isServed ? 200 : 410))
        }

        @Test("rest-v1 §4.4: when both are over, the platform's picker comes; without a choice the app's own")
        func asksAgain() async throws {
            let app = try await CookbookApp.make()
            try await app.device.signInBriefly()
            try await Condition.wait("the session expires") { try await app.device.authnToken().status == 410 }
            try await app.platform.set(["access": "granted"])
            #expect(try await app.play() == .ordinary(preselected: nil))
            try await app.platform.set(["access": "granted", "pick": "north-cable"])
            #expect(try await app.play() == app.expected(.exchanged))
        }

        @Test("rest-v1 §4.7: after a logout the next start signs in silently again, until permission is withdrawn")
        func logout() async throws {
            let app = try await CookbookApp.make()
            try await app.platform.set(Self.known)
            #expect(try await app.play() == app.expected(.exchanged))
            if !app.isServed { try await app.device.signIn() }
            #expect(try await app.device.checkAuthn() == 200)
            #expect(try await app.device.logout() == 204)
            #expect(try await app.device.checkAuthn() == 403)
            #expect(try await app.play() == app.expected(.exchanged))
            #expect(try await app.device.logout() == 204)
            try await app.platform.set(["access": "denied", "provider": "north-cable"])
            #expect(try await app.play() == .ordinary(preselected: nil))
        }
    }
}
