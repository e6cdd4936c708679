import Foundation
import Hummingbird
import Testing

@testable import SandboxApple
@testable import SandboxKit
@testable import SandboxProviders
@testable import SandboxService
@testable import SandboxVendor

/// The key set of identity tokens (apple §2.1, §2.2).
@Suite struct AppleKeyTests {
    private static func keys(_ apple: AppleParty) async throws -> [[String: Any]] {
        try #require(try await apple.get("/appleid/auth/keys").json["keys"] as? [[String: Any]])
    }

    /// True when OpenSSL finds the token's signature good under one of the published keys.
    private static func isVerified(_ token: String, _ apple: AppleParty) async throws -> Bool {
        let kid = try AppleParty.header(token)["kid"] as? String
        guard let key = try await keys(apple).first(where: { $0["kid"] as? String == kid }) else { return false }
        let numbers = ["n", "e"].compactMap { (key[$0] as? String).flatMap(Base64.urlOctets) }
        let folder = FileManager.default.temporaryDirectory.appending(path: "apple-key-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let parts = token.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        try Data(der(0x30, numbers.flatMap { der(0x02, [0] + $0) })).write(to: folder.appending(path: "key"))
        try Data("\(parts[0]).\(parts[1])".utf8).write(to: folder.appending(path: "text"))
        try Data(try #require(Base64.urlOctets(parts[2]))).write(to: folder.appending(path: "signature"))
        let path = folder.path()
        let converted = try Tool.run(
            "openssl", ["rsa", "-RSAPublicKey_in", "-inform", "DER", "-in", "\(path)/key", "-pubout", "-out", "\(path)/pem"])
        try #require(converted.status == 0)
        let outcome = try Tool.run("openssl", ["dgst", "-sha256", "-verify", "\(path)/pem", "-signature", "\(path)/signature", "\(path)/text"])
        return outcome.status == 0
    }

    private static func der(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
        let count = content.count
        let length: [UInt8] = count < 128 ? [UInt8(count)] : count < 256 ? [0x81, UInt8(count)] : [0x82, UInt8(count >> 8), UInt8(count & 255)]
        return [tag] + length + content
    }

    private static func token(_ apple: AppleParty, _ more: String = "") async throws -> String {
        let reply = try await apple.post("/_control/identity-tokens", #"{"account": "ann", "clientId": "example.acme.tv"\#(more)}"#)
        return try #require(reply["identityToken"], "\(reply.text)")
    }

    @Test func theSetHoldsKeysOf2048BitsWithIdsOf10Characters() async throws {
        try await AppleParty.run { apple in
            let keys = try await Self.keys(apple)
            #expect((2...4).contains(keys.count))
            for key in keys {
                #expect((key["kid"] as? String)?.count == 10)
                #expect(key["kty"] as? String == "RSA" && key["alg"] as? String == "RS256" && key["use"] as? String == "sig")
                #expect((key["n"] as? String).flatMap(Base64.urlOctets)?.count == 256)
            }
            #expect(try await Self.isVerified(try await Self.token(apple), apple))
        }
    }

    @Test func theSetCanBeKept() async throws {
        try await AppleParty.run { apple in
            try await apple.control("behaviour", #"{"keysMaxAgeSeconds": 7}"#)
            let first = try await apple.get("/appleid/auth/keys")
            #expect(first.headers[.cacheControl] == "max-age=7")
            let tag = try #require(first.headers[.eTag])
            let second = try await apple.send(.get, "/appleid/auth/keys", nil, [.ifNoneMatch: tag])
            #expect(second.status == 304 && second.text.isEmpty)
            try await apple.control("keys", #"{"action": "add"}"#)
            #expect(try await apple.send(.get, "/appleid/auth/keys", nil, [.ifNoneMatch: tag]).status == 200)
        }
    }

    @Test func keysAreAddedPromotedAndDropped() async throws {
        try await AppleParty.run { apple in
            let old = try #require(try AppleParty.header(try await Self.token(apple))["kid"] as? String)
            let added = try await apple.post("/_control/keys", #"{"action": "add"}"#).list
            let new = try #require(added.last?["kid"] as? String)
            #expect(added.count == 4 && added.last?["signing"] as? Bool == false)
            #expect(try await apple.post("/_control/keys", #"{"action": "add"}"#).status == 409)
            try await apple.control("keys", #"{"action": "promote", "kid": "\#(new)"}"#)
            #expect(try AppleParty.header(try await Self.token(apple))["kid"] as? String == new)
            try await apple.control("keys", #"{"action": "drop", "kid": "\#(old)"}"#)
            #expect(try await Self.keys(apple).count == 3)
            let late = try await Self.token(apple, #", "kid": "\#(old)""#)
            #expect(try AppleParty.header(late)["kid"] as? String == old)
            #expect(try await !Self.isVerified(late, apple))
            #expect(try await apple.post("/_control/keys", #"{"action": "drop", "kid": "\#(old)"}"#).status == 409)
        }
    }

    @Test func anUnpublishedKeySignsUntilItIsPublished() async throws {
        try await AppleParty.run { apple in
            let keys = try await apple.post("/_control/keys", #"{"action": "signUnpublished"}"#).list
            let kid = try #require(keys.first { $0["published"] as? Bool == false }?["kid"] as? String)
            let token = try await Self.token(apple)
            #expect(try AppleParty.header(token)["kid"] as? String == kid)
            #expect(try await !Self.isVerified(token, apple))
            try await apple.control("keys", #"{"action": "publish", "kid": "\#(kid)"}"#)
            #expect(try await Self.isVerified(token, apple))
        }
    }

    @Test(arguments: [("none", "none"), ("symmetric", "HS256"), ("elliptic", "ES256"), ("broken", "RS256"), ("unpublished", "RS256")])
    func aTokenCanBeSignedBadly(_ signature: String, _ algorithm: String) async throws {
        try await AppleParty.run { apple in
            let token = try await Self.token(apple, #", "signature": "\#(signature)""#)
            #expect(try AppleParty.header(token)["alg"] as? String == algorithm)
            #expect(try await !Self.isVerified(token, apple))
        }
    }

    @Test func claimsCanBeChangedAndLeftOut() async throws {
        try await AppleParty.run { apple in
            let token = try await Self.token(
                apple, #", "claims": {"iss": "https://elsewhere.example", "exp": 5, "sub": null, "more": [1, {"a": true}]}"#)
            let claims = try AppleParty.claims(token)
            #expect(claims["iss"] as? String == "https://elsewhere.example" && claims["exp"] as? Int == 5 && claims["sub"] == nil)
            #expect(claims["aud"] as? String == "example.acme.tv" && (claims["more"] as? [Any])?.count == 2)
            #expect(try await Self.isVerified(token, apple))
        }
    }

    @Test func aSeedRepeatsKeysIdsAndCodes() async throws {
        let seen = Seen()
        for _ in 0..<2 {
            try await AppleParty.run(seed: "same") { apple in
                let signIn = try await apple.signIn()
                await seen.add(try await apple.get("/appleid/auth/keys").text + (signIn["code"] ?? "") + (signIn["userID"] ?? ""))
            }
        }
        try await AppleParty.run(seed: "other") { apple in await seen.add(try await apple.get("/appleid/auth/keys").text) }
        let texts = await seen.texts
        #expect(texts.count == 3 && texts[0] == texts[1] && !texts[0].hasPrefix(texts[2]))
        // The memory of a seed is what it makes.
        let numbers = try (0..<2).map { _ in try SandboxSigningKey(seed: [UInt8](repeating: 7, count: 32)).publicNumbers().modulus }
        #expect(numbers[0] == numbers[1])
    }

    private actor Seen {
        private(set) var texts: [String] = []
        func add(_ text: String) { texts.append(text) }
    }
}
