import Clocks
import Foundation
import Testing

@testable import SandboxApple
@testable import SandboxKit
@testable import SandboxProviders
@testable import SandboxService
@testable import SandboxVendor

/// The token on simulated devices: the state machine of apple §1.1.
@Suite struct AppleDeviceTests {
    private static let token = "\(AppleParty.native)/token"

    private static func store(_ value: String, _ apple: AppleParty, device: String = "tv", account: String = "ann") async throws {
        let path = "/_device/accounts/\(account)/apps/example.acme.tv/token"
        let context = try #require(try await apple.post("\(path)/authorize", #"{"answer": "approve", "device": "\#(device)"}"#)["context"])
        let stored = try await apple.post("\(path)/update", #"{"value": "\#(value)", "context": "\#(context)", "device": "\#(device)"}"#)
        try #require(stored.status == 200 && stored["value"] == value, "\(stored.text)")
    }

    @Test("apple §1.1 A1, A2, A5: an approved value is on every device of the account")
    func approval() async throws {
        try await AppleParty.run { apple in
            let fresh = try await apple.get("\(Self.token)?device=phone")
            #expect(fresh["value"] == nil && fresh["authorization"] == "notDetermined" && fresh.json["authorizationNumber"] as? Int == 0)
            let prompt = try await apple.post("\(Self.token)/authorize", #"{"answer": "approve", "device": "tv"}"#)
            #expect(prompt["authorization"] == "granted" && prompt.json["sheetShown"] as? Bool == true)
            let between = try await apple.get(Self.token)
            #expect(between["value"] == nil && between["authorization"] == "granted")
            try await Self.store("one", apple)
            let read = try await apple.get("\(Self.token)?device=phone")
            #expect(read["value"] == "one" && read["authorization"] == "granted" && read["account"] == "ann")
            #expect(try await apple.get("/_device/accounts/bob/apps/example.acme.tv/token")["value"] == nil)
            #expect(try await apple.get("/_device/accounts/ann/apps/example.acme.sports/token")["value"] == nil)
        }
    }

    @Test("apple #28: after a dismissal nothing has changed, and no sheet comes until the app asks")
    func dismissal() async throws {
        try await AppleParty.run { apple in
            let prompt = try await apple.post("\(Self.token)/authorize", #"{"answer": "dismiss"}"#)
            #expect(prompt["authorization"] == "notDetermined")
            for _ in 0..<3 {
                let read = try await apple.get(Self.token)
                #expect(read["value"] == nil && read["authorization"] == "notDetermined" && read.json["sheetsShown"] as? Int == 1)
            }
            #expect(try await apple.post("\(Self.token)/authorize", #"{"answer": "approve"}"#).json["sheetShown"] as? Bool == true)
        }
    }

    @Test("apple §1.1 A4, A10: after a refusal the sheet comes from the app's settings only")
    func refusal() async throws {
        try await AppleParty.run { apple in
            #expect(try await apple.post("\(Self.token)/authorize", #"{"answer": "refuse"}"#)["authorization"] == "denied")
            let again = try await apple.post("\(Self.token)/authorize", #"{"answer": "approve"}"#)
            #expect(again["authorization"] == "denied" && again.json["sheetShown"] as? Bool == false)
            let settings = try await apple.post("\(Self.token)/authorize", #"{"answer": "approve", "fromSettings": true}"#)
            #expect(settings["authorization"] == "granted" && settings.json["sheetShown"] as? Bool == true)
        }
    }

    @Test("apple #32: a context is good for one update")
    func usedContext() async throws {
        try await AppleParty.run { apple in
            let context = try #require(try await apple.post("\(Self.token)/authorize", #"{"answer": "approve"}"#)["context"])
            #expect(try await apple.post("\(Self.token)/update", #"{"value": "one", "context": "\#(context)"}"#).status == 200)
            let second = try await apple.post("\(Self.token)/update", #"{"value": "two", "context": "\#(context)"}"#)
            #expect(second.status == 409 && second["error"] == "contextUsed")
            #expect(try await apple.get(Self.token)["value"] == "one")
        }
    }

    @Test("apple §1.1 A6: a context that was not granted stores nothing", arguments: ["dismiss", "refuse"])
    func ungrantedContext(_ choice: String) async throws {
        try await AppleParty.run { apple in
            let context = try #require(try await apple.post("\(Self.token)/authorize", #"{"answer": "\#(choice)"}"#)["context"])
            let update = try await apple.post("\(Self.token)/update", #"{"value": "one", "context": "\#(context)"}"#)
            #expect(update.status == 409 && update["error"] == "contextNotGranted")
            #expect(try await apple.post("\(Self.token)/update", #"{"value": "one", "context": "made up"}"#)["error"] == "contextUnknown")
            #expect(try await apple.get(Self.token)["value"] == nil)
        }
    }

    @Test("apple #29: a deletion on one device shows on all")
    func deletionOnADevice() async throws {
        try await AppleParty.run { apple in
            try await Self.store("one", apple)
            #expect(try await apple.post("\(Self.token)/delete", #"{"device": "phone"}"#).status == 200)
            for device in ["tv", "phone", "mac"] {
                let read = try await apple.get("\(Self.token)?device=\(device)")
                #expect(read["value"] == nil && read["authorization"] == "notDetermined")
            }
        }
    }

    @Test("apple #30: after the server's Delete an earlier approval is worth nothing")
    func deletionByTheServer() async throws {
        try await AppleParty.run { apple in
            try await Self.store("one", apple)
            let earlier = try #require(try await apple.post("\(Self.token)/authorize", #"{"answer": "approve"}"#)["context"])
            #expect(try await apple.store("delete", #"{"autoSignInTokenValue": "one"}"#) == 204)
            let read = try await apple.get("\(Self.token)?device=phone")
            #expect(read["value"] == nil && read["authorization"] == "notDetermined")
            #expect(try await apple.post("\(Self.token)/update", #"{"value": "two", "context": "\#(earlier)"}"#).status == 409)
            try await Self.store("two", apple)
        }
    }

    @Test("apple #31: tvOS looks at the system's account too, and at no third")
    func defaultAccount() async throws {
        try await AppleParty.run { apple in
            try await Self.store("family's", apple, account: "family")
            try await apple.set(device: "tv", #"{"platform": "tvOS", "defaultAccount": "family"}"#)
            let shared = try await apple.get("\(Self.token)?device=tv")
            #expect(shared["value"] == "family's" && shared["account"] == "family")
            #expect(try await apple.get("\(Self.token)?device=phone")["value"] == nil)
            try await Self.store("own", apple, device: "phone")
            #expect(try await apple.get("\(Self.token)?device=tv")["value"] == "own")
            try await apple.set(device: "tv", #"{"platform": "tvOS", "defaultAccount": "nobody"}"#)
            _ = try await apple.post("\(Self.token)/delete")
            let none = try await apple.get("\(Self.token)?device=tv")
            #expect(none["value"] == nil && none["account"] == "ann")
        }
    }

    @Test("apple #66: a value may be there with any authorization", arguments: ["denied", "notDetermined"])
    func valueWithoutAuthorization(_ authorization: String) async throws {
        try await AppleParty.run { apple in
            let token = #"{"account": "ann", "bundleId": "example.acme.tv", "value": "one", "authorization": "\#(authorization)"}"#
            try await apple.control("tokens", token, .put)
            let read = try await apple.get(Self.token)
            #expect(read["value"] == "one" && read["authorization"] == authorization)
        }
    }

    @Test func macOSCannotStoreValues() async throws {
        try await AppleParty.run { apple in
            try await apple.set(device: "mac", #"{"platform": "macOS"}"#)
            #expect(try await apple.post("\(Self.token)/authorize", #"{"answer": "approve", "device": "mac"}"#)["error"] == "unavailable")
            #expect(try await apple.post("\(Self.token)/delete", #"{"device": "mac"}"#).status == 200)
        }
    }

    @Test func changesReachOtherDevicesAfterTheSyncDelay() async throws {
        try await AppleParty.run { apple in
            try await apple.control("behaviour", #"{"syncDelaySeconds": 30}"#)
            try await Self.store("one", apple, device: "tv")
            #expect(try await apple.get("\(Self.token)?device=tv")["value"] == "one")
            #expect(try await apple.get("\(Self.token)?device=phone")["value"] == nil)
            apple.clock.advance(by: .seconds(30))
            #expect(try await apple.get("\(Self.token)?device=phone")["value"] == "one")
        }
    }

    @Test func anUnknownAppHasNoToken() async throws {
        try await AppleParty.run { apple in
            let elsewhere = try await apple.get("/_device/accounts/ann/apps/example.elsewhere/token")
            #expect(elsewhere.status == 404)
            let odd = try await apple.post("\(Self.token)/authorize", #"{"answer": "approve", "sheet": 1}"#)
            #expect(odd.status == 400 && odd.text.contains("sheet"))
        }
    }

    @Test func aReadCanBeMadeToFail() async throws {
        try await AppleParty.run { apple in
            try await apple.control("faults", #"{"endpoint": "device", "faults": [{"kind": "answer", "status": 500}]}"#)
            #expect(try await apple.get(Self.token).status == 500)
            #expect(try await apple.get(Self.token).status == 200)
        }
    }
}
