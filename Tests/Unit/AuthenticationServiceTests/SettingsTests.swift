import Clocks
import Cryptography
import Foundation
import Testing

@testable import AuthenticationAdministration
@testable import AuthenticationCore
@testable import AuthenticationSignIn
@testable import AuthenticationUpstreams

struct SettingsTests {
    private static var complete: [String: Any] {
        [
            "spEntityID": "https://sp.example", "acsURL": "https://tv.example/sp/saml/SAMLAssertionConsumer", "signingKey": "signing.key",
            "signingCertificate": "signing.crt", "encryptionKey": "encryption.key", "encryptionCertificate": "encryption.crt",
            "accessTokenKey": "token.key", "userIDKey": "user.key", "oauthKey": "oauth.key",
        ]
    }

    @Test("What is left out has its default")
    func hasDefaults() throws {
        let settings = try decode(Self.complete)
        #expect(settings.accessTokenTTL == 21_600)
        #expect(settings.metadataValidity == 604_800)
        #expect(settings.cachedSessions == 65_536)
        #expect(settings.activationOrigins.isEmpty)
        #expect(settings.oauthCallbackURL == "https://tv.example/adobe-services/oauth2")
        #expect(settings.clientSecrets == nil)
        #expect(settings.accessTokenKeyLead == 60)
        #expect(settings.accessTokenKeyFiles == ["token.key"])
        #expect(settings.codesPerClient == 100_000 && settings.codesPerDevice == 100)
        #expect(settings.clientDays == 400 && settings.idleClientDays == 30)
    }

    @Test(
        "A value out of its range names its key",
        arguments: [
            ("accessTokenTTL", 59), ("accessTokenTTL", 86_401), ("metadataValidity", 1), ("cachedSessions", 1), ("accessTokenKeyLead", -1),
            ("accessTokenKeyLead", 86_401),
        ])
    func refusesOutOfRange(_ key: String, _ value: Int) throws {
        let error = try #require(throws: DecodingError.self) { try decode(Self.complete.merging([key: value]) { $1 }) }
        guard case .dataCorrupted(let context) = error else {
            Issue.record("an unexpected error: \(error)")
            return
        }
        #expect(context.codingPath.map(\.stringValue) == [key])
        #expect(context.debugDescription.contains("\(value)"))
    }

    @Test("Origins are scheme, host and port, and nothing else", arguments: ["https://x.example/path", "x.example", "ftp://x.example", ""])
    func refusesBadOrigins(_ origin: String) throws {
        #expect(throws: DecodingError.self) { try decode(Self.complete.merging(["activationOrigins": [origin]]) { $1 }) }
    }

    @Test("adoptUntil is a moment in UTC; one that has passed is told")
    func readsMoments() throws {
        let settings = try decode(Self.complete.merging(["adoptUntil": "2031-03-04T10:00:00Z"]) { $1 })
        #expect(settings.adoptUntil == t0)
        #expect(settings.doubts(now: t0 - .seconds(1)) { $0 }.isEmpty && settings.doubts(now: t0) { $0 }.count == 1)
        #expect(try decode(Self.complete).adoptUntil == nil)
        #expect(try decode(Self.complete.merging(["adoptUntil": "2031-03-04T23:59:59Z"]) { $1 }).adoptUntil == t0 + .seconds(13 * 3600 + 3599))
        for bad in [
            "", "soon", "2031-03-04", "2031-02-29T10:00:00Z", "2031-03-04T24:00:00Z", "2031-03-04T23:60:00Z", "2031-03-04T23:59:60Z",
            "2031-03-04T10:00:00+01:00", "1930384800",
        ] {
            let error = try #require(throws: DecodingError.self) { try decode(Self.complete.merging(["adoptUntil": bad]) { $1 }) }
            guard case .dataCorrupted(let context) = error else {
                Issue.record("\(bad): \(error)")
                continue
            }
            #expect(context.codingPath.map(\.stringValue) == ["adoptUntil"], "\(bad)")
        }
    }

    @Test("a client certificate that cannot be read is a doubt that names it, and keeps no settings from being good")
    func doubtsCertificates() throws {
        let settings = try decode(
            Self.complete.merging(["clientCertificates": ["tv": ["certificate": "/nowhere/tv.crt", "key": "/nowhere/tv.key"]]]) { $1 })
        #expect(settings.clientCertificateFiles == ["/nowhere/tv.crt", "/nowhere/tv.key"])
        let doubts = settings.doubts { $0 }
        #expect(
            doubts.count == 1
                && doubts[0].hasPrefix("authentication.clientCertificates.tv closes each upstream that names it: the file /nowhere/tv.crt"))
        #expect(throws: DecodingError.self) { try decode(Self.complete.merging(["clientCertificates": ["tv": ["certificate": "x"]]]) { $1 }) }
    }

    @Test("Every file is needed", arguments: complete.keys.sorted())
    func needsEveryKey(_ key: String) throws {
        var settings = Self.complete
        settings[key] = nil
        #expect(throws: DecodingError.self) { try decode(settings) }
        settings[key] = ""
        #expect(throws: DecodingError.self) { try decode(settings) }
    }

    @Test("Keys are read from the files that are named; a wrong one is named")
    func readsKeys() throws {
        let files = try Files()
        let settings = try decode(Self.complete)
        _ = try AuthenticationKeys(settings) { path, _ in try files.text(path) }
        for path in files.texts.keys.sorted() {
            var damaged = files
            damaged.texts[path] = "nothing useful"
            let error = try #require(throws: AuthenticationKeyError.self) {
                _ = try AuthenticationKeys(settings) { path, _ in try damaged.text(path) }
            }
            #expect(error.key.hasPrefix("authentication."))
            #expect(!error.description.contains("nothing useful"))
        }
    }

    @Test("Further keys of access tokens are read, and one that is none is named with its place")
    func readsFurtherAccessTokenKeys() throws {
        var files = try Files()
        for name in ["next.key", "older.key"] { files.texts[name] = try P256PrivateKey.generate().pem() }
        files.texts["oldest.pub"] = try P256PrivateKey.generate().publicKey.pem()
        var content = Self.complete.merging(["nextAccessTokenKey": "next.key", "olderAccessTokenKeys": ["older.key", "oldest.pub"]]) { $1 }
        let keys = try AuthenticationKeys.accessTokens(try decode(content)) { [files] path, _ in try files.text(path) }
        #expect(Set(([keys.current] + [keys.next].compactMap(\.self)).map(\.identifier) + keys.older.map(\.identifier)).count == 4)
        content["olderAccessTokenKeys"] = ["older.key", "user.key"]
        let settings = try decode(content)
        #expect(settings.accessTokenKeyFiles == ["token.key", "next.key", "older.key", "user.key"])
        let error = try #require(throws: AuthenticationKeyError.self) {
            _ = try AuthenticationKeys.accessTokens(settings) { [files] path, _ in try files.text(path) }
        }
        #expect(error.key == "authentication.olderAccessTokenKeys[1]")
    }

    @Test("A certificate that does not belong to its key")
    func refusesForeignCertificate() throws {
        let settings = try decode(Self.complete)
        for (path, foreign) in [("signing.crt", "encryption.crt"), ("encryption.crt", "signing.crt")] {
            var files = try Files()
            files.texts[path] = files.texts[foreign]
            #expect(throws: AuthenticationKeyError.self) { _ = try AuthenticationKeys(settings) { path, _ in try files.text(path) } }
        }
    }

    @Test("Codes without a limit are doubtful, others are not")
    func tellsOfNoLimit() throws {
        #expect(try decode(Self.complete.merging(["codesPerClient": 9_999_999, "codesPerDevice": 1000]) { $1 }).doubts { $0 }.isEmpty)
        let doubts = try decode(Self.complete.merging(["codesPerClient": 10_000_000, "codesPerDevice": 10_000_000]) { $1 }).doubts { $0 }
        #expect(doubts.count == 2 && doubts[0].hasPrefix("authentication.codesPerClient 10000000 ") && doubts[1].hasSuffix("leave it out for 100"))
    }

    private func decode(_ settings: [String: Any]) throws -> AuthenticationSettings {
        try JSONDecoder().decode(AuthenticationSettings.self, from: JSONSerialization.data(withJSONObject: settings))
    }
}

/// Key files.
private struct Files {
    var texts: [String: String] = [:]

    init() throws {
        let (signing, encryption) = try TestRSAKeys.two.get()
        for (name, key) in [("signing", signing), ("encryption", encryption)] {
            let identity = try CertifiedKey.selfSigned(commonName: name, key: .rsa(key))
            texts["\(name).key"] = try identity.key.pem()
            texts["\(name).crt"] = try identity.certificate.pem()
        }
        texts["token.key"] = try P256PrivateKey.generate().pem()
        texts["user.key"] = SymmetricKey.random().hexRepresentation + "\n"
        texts["oauth.key"] = SymmetricKey.random().hexRepresentation + "\n"
    }

    func text(_ path: String) throws -> String { try #require(texts[path]) }
}
