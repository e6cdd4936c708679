import Clocks
import Cryptography
import Doubles
import Foundation
import Logging
import ManualClocks
import MediaTokenVerifier
import Storage
import Testing
import Tokens

@testable import AuthorizationService

/// Media token keys that change while the service runs (decision 0052).
@Suite struct MediaTokenKeyRotationTests {
    /// A folder with the files of one settings object.
    private struct Folder {
        let url = FileManager.default.temporaryDirectory.appending(path: "media-keys-\(UUID().uuidString)")

        init() throws {
            try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
            try write(try .generate(), jws: try .generate())
        }

        func write(_ key: RSAPrivateKey, jws: P256PrivateKey) throws {
            let identity = try CertifiedKey.selfSigned(commonName: "media tokens", key: .rsa(key))
            try Data(identity.key.pem().utf8).write(to: url.appending(path: "rsa.key"))
            try Data(identity.certificate.pem().utf8).write(to: url.appending(path: "rsa.crt"))
            try Data(PrivateKey.p256(jws).pem().utf8).write(to: url.appending(path: "ec.key"))
        }

        func load() throws(MediaTokenKeyError) -> MediaTokenKeyFiles {
            let json = #"{"mediaTokenKey":"rsa.key","mediaTokenCertificates":["rsa.crt"],"mediaTokenJwsKey":"ec.key"}"#
            guard let settings = try? JSONDecoder().decode(AuthorizationSettings.self, from: Data(json.utf8)) else {
                throw MediaTokenKeyError(key: "", problem: "settings")
            }
            return try MediaTokenKeyFiles(settings) { url.appending(path: $0).path }
        }
    }

    private static let play = MediaTokenIssuer.Play(
        sessionGUID: String(repeating: "ab", count: 32), requestor: "CHAN7", resource: "CHAN7-HD", mvpd: "DemoCable", ttl: .seconds(420))
    private static let log = Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })

    @Test func publishesANewKeyBeforeItSignsAndTheOldOneAfterwards() async throws {
        let folder = try Folder()
        defer { try? FileManager.default.removeItem(at: folder.url) }
        let clock = ManualClock()
        let keys = try MediaTokenKeyRotation(try folder.load(), lead: .seconds(600), clock: clock, logger: Self.log)
        let issuer = MediaTokenIssuer(referenceKey: keys.referenceKey, jwsKeys: keys.jwsKeys, pool: SigningPool(threads: 1), clock: clock)
        let old = try Backend(keys)

        try folder.write(try .generate(), jws: try .generate())
        keys.reload { () throws(MediaTokenKeyError) in try folder.load() }
        let both = try Backend(keys)
        #expect(old.count == 1 && both.count == 2 && keys.jwsKeys.keySet.keys.count == 2)
        for form in MediaTokenIssuer.Form.allCases {
            let token = try await issuer.issue(Self.play, form: form).serialized
            #expect(old.accepts(token, clock), "the old key signs until verifiers know the new one")
        }

        clock.advance(by: .seconds(600))
        keys.advance()
        for form in MediaTokenIssuer.Form.allCases {
            let token = try await issuer.issue(Self.play, form: form).serialized
            #expect(!old.accepts(token, clock) && both.accepts(token, clock), "the new key was published before")
        }
        #expect(try Backend(keys).count == 2)
        clock.advance(by: .seconds(3600))
        keys.advance()
        #expect(try Backend(keys).count == 1 && keys.jwsKeys.keySet.keys.count == 1)
    }

    @Test func keepsItsKeysWhenTheFilesAreOfNoUse() async throws {
        let folder = try Folder()
        defer { try? FileManager.default.removeItem(at: folder.url) }
        let clock = ManualClock()
        let keys = try MediaTokenKeyRotation(try folder.load(), lead: .zero, clock: clock, logger: Self.log)
        let before = try Backend(keys)
        // A new key while the certificate has not been replaced yet.
        try Data(PrivateKey.rsa(try .generate()).pem().utf8).write(to: folder.url.appending(path: "rsa.key"))
        keys.reload { () throws(MediaTokenKeyError) in try folder.load() }
        let issuer = MediaTokenIssuer(referenceKey: keys.referenceKey, jwsKeys: keys.jwsKeys, pool: SigningPool(threads: 1), clock: clock)
        #expect(before.accepts(try await issuer.issue(Self.play, form: .reference).serialized, clock))
    }

    @Test("Copies that tell each other publish the keys and certificates of all of them")
    func publishesThoseOfOtherCopies() async throws {
        let folders = [try Folder(), try Folder()]
        defer { for folder in folders { try? FileManager.default.removeItem(at: folder.url) } }
        let clock = ManualClock()
        let copies = try folders.map { try MediaTokenKeyRotation(try $0.load(), lead: .seconds(600), clock: clock, logger: Self.log) }
        let all = copies.flatMap(\.told).map { SharedPublicKey($0.identifier, content: $0.content, since: clock.now()) }
        #expect(all.count == 4)
        for copy in copies { copy.take(all) }
        for copy in copies {
            let issuer = MediaTokenIssuer(referenceKey: copy.referenceKey, jwsKeys: copy.jwsKeys, pool: SigningPool(threads: 1), clock: clock)
            for form in MediaTokenIssuer.Form.allCases {
                let token = try await issuer.issue(Self.play, form: form).serialized
                for asked in copies { #expect(try Backend(asked).accepts(token, clock)) }
            }
        }
        // A new key waits until the table has had it for the lead time.
        try folders[0].write(try .generate(), jws: try .generate())
        copies[0].reload { () throws(MediaTokenKeyError) in try folders[0].load() }
        let before = copies[0].jwsKeys.ring.current.identifier
        clock.advance(by: .seconds(600))
        copies[0].advance()
        #expect(copies[0].jwsKeys.ring.current.identifier == before)
        copies[0].take(copies[0].told.map { SharedPublicKey($0.identifier, content: $0.content, since: clock.now()) })
        clock.advance(by: .seconds(600))
        copies[0].advance()
        #expect(copies[0].jwsKeys.ring.current.identifier != before)
    }

    /// The keys of a backend that fetched the published ones.
    private struct Backend {
        let trusted: TrustedMediaTokenKeys
        let count: Int

        init(_ keys: MediaTokenKeyRotation) throws {
            let certificates = try Certificate.all(pem: keys.published.certificates)
            var trusted = try TrustedMediaTokenKeys(certificates: certificates)
            try trusted.add(jwks: keys.jwsKeys.keySet.json)
            self.trusted = trusted
            count = certificates.count
        }

        func accepts(_ token: String, _ clock: ManualClock) -> Bool {
            MediaTokenVerifier(trustedKeys: trusted, clock: clock).verify(token, requestor: "CHAN7", resource: "CHAN7-HD").verdict == .valid
        }
    }
}
