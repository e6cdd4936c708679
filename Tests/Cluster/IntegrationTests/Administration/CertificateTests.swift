@testable import ClusterCommands
@testable import CommandKit
import Clocks
import Cryptography
import Foundation
import Testing

extension AdministrationApiTests {
    @Suite("A programmer's certificates")
    struct CertificateTests {
        @Test("dashboard #8: a private key among the certificates is 422, and its text in no log and no answer")
        func privateKey() async throws {
            let local = try await Administrator.fresh()
            let own = try Self.certificate()
            let answer = try await add([["certificate": try own.key.pem(), "encryptsUserMetadata": false]], local)
            #expect(answer.status == 422 && answer.problemFields.contains { $0.hasPrefix("certificates") }, "\(answer.text)")
            let line = try #require(try own.key.pem().split(separator: "\n").dropFirst().first.map(String.init))
            #expect(!answer.text.contains(line))
            for log in try FileManager.default.contentsOfDirectory(at: local.cluster.home.logs, includingPropertiesForKeys: nil) {
                #expect(try !String(contentsOf: log, encoding: .utf8).contains(line), "\(log.lastPathComponent)")
            }
        }

        @Test("dashboard #9: an expired certificate is 422")
        func expired() async throws {
            let local = try await Administrator.fresh()
            let ended = try Self.certificate(endingIn: .seconds(-10))
            let answer = try await add([["certificate": try ended.certificate.pem(), "encryptsUserMetadata": true]], local)
            #expect(answer.status == 422 && answer.problemFields.contains { $0.hasPrefix("certificates") }, "\(answer.text)")
        }

        @Test("dashboard #10: a backup certificate that is switched to yes and pushed is what new metadata is encrypted to")
        func backup() async throws {
            let local = try await Administrator.fresh()
            let device = try await Device.make("ACME1")
            try await device.signIn()
            let backup = try Self.certificate()
            let entry: [String: Any] = ["certificate": try backup.certificate.pem(), "encryptsUserMetadata": false]
            #expect(try await add([entry], local).status == 200)
            try await local.push("a backup certificate")
            #expect(try await zip(device, backup.key) == nil, "the first one still encrypts")
            let switched = try await local.change("/programmers/acme") { programmer in
                var certificates = try #require(programmer["certificates"] as? [[String: Any]])
                for index in certificates.indices { certificates[index]["encryptsUserMetadata"] = index == certificates.count - 1 }
                programmer["certificates"] = certificates
            }
            #expect(switched.status == 200, "\(switched.text)")
            try await local.push("the backup encrypts")
            try await Condition.wait("metadata is encrypted to the backup", within: .seconds(5)) { try await zip(device, backup.key) != nil }
        }

        /// The zip codes, if this key opens them.
        private func zip(_ device: Device, _ key: PrivateKey) async throws -> String? {
            let data = try await device.get("/api/v1/tokens/usermetadata").object["data"] as? [String: Any]
            let value = try #require(data?["zip"] as? String)
            let block = try #require(Base64.standard.decode(value))
            guard case .rsa(let rsa) = key else { return nil }
            return (try? rsa.decrypt(block, padding: .oaepSHA256)).map { String(decoding: $0, as: UTF8.self) }.flatMap {
                $0.hasPrefix("[") ? $0 : nil
            }
        }

        private func add(_ certificates: [[String: Any]], _ local: Administrator) async throws -> HTTPAnswer {
            try await local.change("/programmers/acme") { programmer in
                programmer["certificates"] = (programmer["certificates"] as? [[String: Any]] ?? []) + certificates
            }
        }

        private static func certificate(endingIn rest: Duration = .seconds(86_400)) throws -> CertifiedKey {
            let now = SystemClock().now()
            return try CertifiedKey.selfSigned(
                commonName: "backup", key: .rsa(.generate()), validity: CertificateValidity(notBefore: now - .seconds(1000), notAfter: now + rest))
        }
    }
}
