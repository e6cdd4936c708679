@testable import ClusterCommands
@testable import CommandKit
import Clocks
import Cryptography
import Foundation
import ManualClocks
import MediaTokenVerifier
import Testing

extension RestV1Tests {
    @Suite("Media tokens")
    struct MediaTokenTests {
        @Test("rest-v1 #68: a media token needs an authorization; both addresses give the same")
        func addresses() async throws {
            let device = try await Device.make()
            try await device.signIn()
            #expect(try await device.mediaToken("ACME1-NEWS").status == 403)
            try #require(try await device.authorize("ACME1-NEWS").status == 200)
            let names: Set = ["requestor", "resource", "mvpdId", "userId", "expires", "serializedToken"]
            for path in ["/api/v1/mediatoken", "/api/v1/tokens/media"] {
                let answer = try await device.get(path, ["resource": "ACME1-NEWS"])
                #expect(answer.status == 200, "\(path)")
                #expect(Set(answer.object.keys) == names, "\(path)")
            }
        }

        @Test("rest-v1 #69: the token carries requestor, resource and seven minutes")
        func content() async throws {
            let (token, answer) = try await token()
            let text = String(decoding: try #require(Data(base64Encoded: token)), as: UTF8.self)
            #expect(text.hasPrefix("<signatureInfo>") && text.contains("<signatureInfo><shortAuthorizationToken>"))
            #expect(text.contains("<requestorID>ACME1</requestorID><resourceID>ACME1-NEWS</resourceID><ttl>420000</ttl>"))
            let facts = try #require(try verified(token, resource: "ACME1-NEWS").facts)
            #expect(facts.ttl == .seconds(420))
            #expect(answer.object["expires"] as? String == String((facts.issuedAt + facts.ttl).milliseconds))
        }

        @Test("rest-v1 #70: an untouched token is valid, for its resource and for none")
        func untouched() async throws {
            let (token, _) = try await token()
            #expect(try verified(token, resource: "ACME1-NEWS").verdict == .valid)
            #expect(try verified(token, resource: nil).verdict == .valid)
        }

        @Test("rest-v1 #71: what is altered, elsewhere, late or garbage is not valid")
        func notValid() async throws {
            let (token, _) = try await token()
            let text = String(decoding: try #require(Data(base64Encoded: token)), as: UTF8.self)
            let altered = Data(text.replacingOccurrences(of: "<ttl>420000<", with: "<ttl>420001<").utf8).base64EncodedString()
            #expect(try verified(altered, resource: "ACME1-NEWS").verdict == .invalidSignature)
            #expect(try verified(token, resource: "ACME1-SPORT").verdict == .invalidResource)
            let late = ManualClock(SystemClock().now() + .seconds(480))
            #expect(try verified(token, resource: "ACME1-NEWS", clock: late).verdict == .expired)
            #expect(try verified("garbage", resource: nil).verdict == .invalidFormat)
        }

        @Test("rest-v1 #72: two calls give two tokens for one person, on every device")
        func samePerson() async throws {
            let device = try await authorized()
            let first = try await serialized(device)
            let second = try await serialized(device)
            #expect(first != second)
            let guids = try [first, second, try await serialized(try await authorized())].map { token in
                try #require(try verified(token, resource: "ACME1-NEWS").facts).sessionGUID
            }
            #expect(Set(guids).count == 1)
            #expect(try await device.authnToken().object["userId"] as? String == guids[0])
        }

        private func authorized() async throws -> Device {
            let device = try await Device.make()
            try await device.signIn()
            try #require(try await device.authorize("ACME1-NEWS").status == 200)
            return device
        }

        private func token() async throws -> (String, HTTPAnswer) {
            let answer = try await authorized().mediaToken("ACME1-NEWS")
            return (try #require(answer.object["serializedToken"] as? String), answer)
        }

        private func serialized(_ device: Device) async throws -> String {
            try #require(try await device.mediaToken("ACME1-NEWS").object["serializedToken"] as? String)
        }

        private func verified(_ token: String, resource: String?, clock: any WallClock = SystemClock()) throws -> MediaTokenCheck {
            MediaTokenVerifier(trustedKeys: try TestCluster.running().mediaTokenKeys(), clock: clock).verify(
                token, requestor: "ACME1", resource: resource)
        }
    }
}
