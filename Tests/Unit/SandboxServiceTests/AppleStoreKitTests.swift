import Foundation
import Hummingbird
import Testing

@testable import SandboxApple
@testable import SandboxKit
@testable import SandboxProviders
@testable import SandboxService
@testable import SandboxVendor

/// Update and Delete of the App Store's server (apple §1.3).
@Suite struct AppleStoreKitTests {
    private static func hold(_ value: String, _ apple: AppleParty, account: String = "ann", environment: String = "production") async throws {
        let token = """
            {"account": "\(account)", "bundleId": "example.acme.tv", "environment": "\(environment)", "value": "\(value)", "authorization": "granted"}
            """
        try await apple.control("tokens", token, .put)
    }

    private static let update = #"{"existingAutoSignInTokenValue": "one", "newAutoSignInTokenValue": "two"}"#
    private static let delete = #"{"autoSignInTokenValue": "one"}"#

    @Test func anUpdateReachesEveryAccountThatHoldsTheValue() async throws {
        try await AppleParty.run { apple in
            try await Self.hold("one", apple)
            try await Self.hold("one", apple, account: "bob")
            #expect(try await apple.store("update", Self.update) == 204)
            for account in ["ann", "bob"] {
                let token = try await apple.get("/_device/accounts/\(account)/apps/example.acme.tv/token")
                #expect(token["value"] == "two" && token["authorization"] == "granted")
            }
            #expect(try await apple.store("update", Self.update) == 404)
        }
    }

    @Test func productionAndSandboxKnowNothingOfEachOther() async throws {
        try await AppleParty.run { apple in
            try await Self.hold("one", apple, environment: "sandbox")
            #expect(try await apple.store("delete", Self.delete) == 404)
            #expect(try await apple.get("\(AppleParty.native)/token?environment=sandbox")["value"] == "one")
            #expect(try await apple.store("delete", Self.delete, prefix: "/storekit-sandbox") == 204)
            #expect(try await apple.get("\(AppleParty.native)/token?environment=sandbox")["value"] == nil)
        }
    }

    @Test("apple #25: a token that lives longer than 60 minutes is refused")
    func refusesALongLife() async throws {
        try await AppleParty.run { apple in
            try await Self.hold("one", apple)
            #expect(try await apple.store("update", Self.update) { $0.claims["exp"] = apple.clock.now().seconds + 3601 } == 401)
            #expect(try await apple.store("update", Self.update) { $0.claims["exp"] = apple.clock.now().seconds + 3600 } == 204)
        }
    }

    @Test("apple #26: a wrong bid, aud or kid is refused")
    func refusesWrongClaims() async throws {
        try await AppleParty.run { apple in
            try await Self.hold("one", apple)
            let now = apple.clock.now().seconds
            let changes: [@Sendable (inout TeamToken) -> Void] = [
                { $0.claims["bid"] = "example.acme.unknown" }, { $0.claims["bid"] = "example.bravo.tv" }, { $0.claims["bid"] = "example.acme.web" },
                { $0.claims["bid"] = nil }, { $0.claims["aud"] = "appstoreconnect-v2" }, { $0.header["kid"] = "ACMESIGN01" },
                { $0.header["kid"] = nil }, { $0.header["alg"] = "RS256" }, { $0.header["typ"] = nil }, { $0.claims["iss"] = "bravo" },
                { $0.claims["exp"] = now }, { $0.claims["iat"] = now + 3000 }, { $0.claims["iat"] = nil }, { $0.key = "foreign" },
            ]
            for (index, change) in changes.enumerated() {
                #expect(try await apple.store("update", Self.update, change) == 401, "change \(index)")
            }
            #expect(try await apple.get("\(AppleParty.native)/token")["value"] == "one")
        }
    }

    @Test("apple #27: a signature in DER is refused")
    func refusesDer() async throws {
        try await AppleParty.run { apple in
            try await Self.hold("one", apple)
            #expect(try await apple.store("delete", Self.delete) { $0.form = .der } == 401)
            #expect(try await apple.store("delete", Self.delete) == 204)
        }
    }

    @Test func anAppReachesItsOwnValuesOnly() async throws {
        try await AppleParty.run { apple in
            try await Self.hold("one", apple)
            #expect(try await apple.store("delete", Self.delete) { $0.claims["bid"] = "example.acme.sports" } == 404)
        }
    }

    @Test func aBodyThatIsNotWhatItShouldBeIs400() async throws {
        try await AppleParty.run { apple in
            for body in ["", "x", "{}", #"{"autoSignInTokenValue": "one", "more": 1}"#, #"{"autoSignInTokenValue": 1}"#] {
                let status = try await apple.store("delete", body)
                #expect(status == 400, "\(body)")
            }
        }
    }
}
