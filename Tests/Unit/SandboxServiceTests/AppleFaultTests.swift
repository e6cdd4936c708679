import Foundation
import Hummingbird
import HummingbirdTesting
import Testing

@testable import SandboxApple
@testable import SandboxKit
@testable import SandboxProviders
@testable import SandboxService
@testable import SandboxVendor

/// The faults that tests can set for Apple's endpoints (apple §3).
@Suite struct AppleFaultTests {
    private static func queue(_ apple: AppleParty, _ endpoint: String, _ faults: String) async throws {
        try await apple.control("faults", #"{"endpoint": "\#(endpoint)", "faults": [\#(faults)]}"#)
    }

    private static func keys(_ apple: AppleParty) async throws -> AppleParty.Reply { try await apple.get("/appleid/auth/keys") }

    @Test func answersAreQueued() async throws {
        try await AppleParty.run { apple in
            let faults =
                #"{"kind": "answer", "status": 503, "headers": {"Retry-After": "30"}, "times": 2}, {"kind": "answer", "status": 418, "body": "{}"}"#
            try await Self.queue(apple, "keys", faults)
            for _ in 0..<2 {
                let reply = try await Self.keys(apple)
                #expect(reply.status == 503 && reply.headers[.retryAfter] == "30" && reply.text.isEmpty)
            }
            let third = try await Self.keys(apple)
            #expect(third.status == 418 && third.text == "{}" && third.headers[.contentType] == "application/json")
            #expect(try await Self.keys(apple).status == 200)
        }
    }

    @Test func aFaultForEverEndsWhenItIsForgotten() async throws {
        try await AppleParty.run { apple in
            try await Self.queue(apple, "keys", #"{"kind": "answer", "status": 500, "times": 0}"#)
            for _ in 0..<5 { #expect(try await Self.keys(apple).status == 500) }
            #expect(try await apple.get("/_control/faults").json["keys"] != nil)
            #expect(try await apple.send(.delete, "/_control/faults?endpoint=keys").status == 204)
            #expect(try await Self.keys(apple).status == 200)
        }
    }

    @Test func bodiesCanBeWrong() async throws {
        try await AppleParty.run { apple in
            try await Self.queue(apple, "keys", #"{"kind": "notJSON"}, {"kind": "contentType"}"#)
            let text = try await Self.keys(apple)
            #expect(text.status == 200 && text.headers[.contentType] == "application/json" && text.json.isEmpty)
            let plain = try await Self.keys(apple)
            #expect(plain.headers[.contentType] == "text/plain" && plain.json["keys"] != nil)
        }
    }

    @Test(arguments: ["reset", "truncated"])
    func aConnectionCanEnd(_ kind: String) async throws {
        try await AppleParty.run { apple in
            try await Self.queue(apple, "keys", #"{"kind": "\#(kind)"}"#)
            await #expect(throws: (any Error).self) { _ = try await Self.keys(apple) }
        }
    }

    @Test func anAnswerCanBeLate() async throws {
        try await AppleParty.run { apple in
            try await Self.queue(apple, "keys", #"{"kind": "latency", "milliseconds": 120}"#)
            let start = ContinuousClock.now
            #expect(try await Self.keys(apple).status == 200)
            #expect(ContinuousClock.now - start >= .milliseconds(120))
        }
    }

    @Test(arguments: [("applyThenTimeout", true), ("timeout", false)])
    func aCallCanHangAfterItsEffectOrBefore(_ kind: String, _ applies: Bool) async throws {
        try await AppleParty.run { apple in
            try await apple.control(
                "tokens", #"{"account": "ann", "bundleId": "example.acme.tv", "value": "one", "authorization": "granted"}"#, .put)
            try await Self.queue(apple, "update", #"{"kind": "\#(kind)"}"#)
            let caller = TestClient(host: "127.0.0.1", port: try #require(apple.client.port))
            caller.connect()
            let bearer = try TeamToken.purchase(now: apple.clock.now()).text()
            let body = ByteBuffer(string: #"{"existingAutoSignInTokenValue": "one", "newAutoSignInTokenValue": "two"}"#)
            try await caller.executeAndDontWaitForResponse(
                .init(
                    "/storekit/account/v1/autoSignIn/update", method: .post, authority: "localhost",
                    headers: [.contentType: "application/json", .authorization: "Bearer \(bearer)"], body: body))
            // The log tells when the call has arrived; it is never answered.
            var entry: [String: Any]?
            let end = ContinuousClock.now + .seconds(60)
            while entry == nil, ContinuousClock.now < end {
                entry = (try await apple.get("/_control/log").json["entries"] as? [[String: Any]])?.last { $0["endpoint"] as? String == "update" }
            }
            #expect(entry?["status"] as? Int == 0 && entry?["fault"] as? String == kind)
            #expect(try await apple.get("\(AppleParty.native)/token")["value"] == (applies ? "two" : "one"))
            try? await caller.close(mode: .all)
        }
    }

    @Test(arguments: [#"{"kind": "answer"}"#, #"{"kind": "latency"}"#, #"{"kind": "reset", "times": -1}"#, #"{"kind": "sulk"}"#])
    func aFaultThatCannotBeIsRefused(_ fault: String) async throws {
        try await AppleParty.run { apple in
            let reply = try await apple.send(.post, "/_control/faults", #"{"endpoint": "keys", "faults": [\#(fault)]}"#)
            #expect(reply.status == 400)
        }
    }
}
