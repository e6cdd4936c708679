import Clocks
import Cryptography
import Foundation
import MediaTokenVerifier
import Testing
import Tokens

/// The reference form down to its bytes, and forms that other senders write.
@Suite struct ReferenceFormTests {
    private let fixture: MediaTokenFixture

    init() throws { fixture = try MediaTokenFixture() }

    @Test("rest-v1 §7: the bytes are exactly the documented ones")
    func writesTheDocumentedBytes() async throws {
        var play = MediaTokenFixture.play
        play.resource = #"<rss version="2.0"><channel><title>A & B</title></channel></rss>"#
        let token = try await fixture.issuer.issue(play, form: .reference).serialized
        let (signature, payload) = try Self.split(token)
        #expect(Base64.standard.decode(signature)?.count == 256)
        #expect(
            payload == "<shortAuthorizationToken><sessionGUID>\(play.sessionGUID)</sessionGUID><requestorID>CHAN7</requestorID>"
                + #"<resourceID>&lt;rss version="2.0"&gt;&lt;channel&gt;&lt;title&gt;A &amp; B&lt;/title&gt;&lt;/channel&gt;&lt;/rss&gt;</resourceID>"#
                + "<ttl>420000</ttl><issueTime>2025-03-04 10:15:30 +0000</issueTime><mvpdId>DemoCable</mvpdId></shortAuthorizationToken>")
        #expect(fixture.verdict(token, resource: play.resource) == .valid)
    }

    @Test("rest-v1 §7: the openssl command verifies the signature")
    func agreesWithTheCommandLine() async throws {
        let token = try await fixture.issuer.issue(MediaTokenFixture.play, form: .reference).serialized
        let (signature, payload) = try Self.split(token)
        guard case .rsa(let key) = try fixture.identity.certificate.publicKey() else {
            Issue.record("the certificate holds no RSA key")
            return
        }
        let folder = FileManager.default.temporaryDirectory.appending(path: "reference-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let files = ["key.pem", "signature", "payload"].map { folder.appending(path: $0) }
        try Data(key.pem().utf8).write(to: files[0])
        try Data(#require(Base64.standard.decode(signature))).write(to: files[1])
        try Data(payload.utf8).write(to: files[2])
        #expect(try Self.openssl("dgst", "-sha256", "-verify", files[0].path, "-signature", files[1].path, files[2].path) == 0)
        try Data((payload + " ").utf8).write(to: files[2])
        #expect(try Self.openssl("dgst", "-sha256", "-verify", files[0].path, "-signature", files[1].path, files[2].path) != 0)
    }

    @Test("rest-v1 §7: both roots, the slash and a direct MVPD's missing proxy are accepted", arguments: ["shortAuthorizationToken", "authToken"])
    func acceptsFieldVariants(root: String) throws {
        for ending in ["<signatureInfo>", "</signatureInfo>"] {
            #expect(try fixture.verdict(signed(payload(root: root), ending: ending)) == .valid)
        }
    }

    @Test("rest-v1 §7: time zones other than UTC are understood")
    func understandsTimeZones() throws {
        #expect(try fixture.verdict(signed(payload(issueTime: "2025-03-04 12:45:30 +0230"))) == .valid)
        #expect(try fixture.verdict(signed(payload(issueTime: "2025-03-04 05:15:30 -0500"))) == .valid)
        #expect(try fixture.verdict(signed(payload(issueTime: "2025-03-04 10:15:30 +0100"))) == .expired)
    }

    @Test(
        "rest-v1 §7: a signed document of another form is no token",
        arguments: [
            "<shortAuthorizationToken></shortAuthorizationToken>", "<other><ttl>1</ttl></other>", "",
            "<shortAuthorizationToken><ttl>1</ttl><ttl>2</ttl></shortAuthorizationToken>",
            "<!DOCTYPE x><shortAuthorizationToken/>",
        ])
    func refusesOtherDocuments(text: String) throws {
        #expect(try fixture.verdict(signed(text)) == .invalidFormat)
    }

    @Test(
        "rest-v1 §7: fields of impossible value are no token",
        arguments: ["2025-02-29 10:15:30 +0000", "2025-03-04T10:15:30+0000", "2025-03-04 24:00:00 +0000", "2025-13-04 10:15:30 +0000", "1741083330"])
    func refusesImpossibleTimes(issueTime: String) throws {
        #expect(try fixture.verdict(signed(payload(issueTime: issueTime))) == .invalidFormat)
    }

    @Test("rest-v1 §7: numbers and references beyond reason are no token")
    func refusesHostileFields() throws {
        #expect(try fixture.verdict(signed(payload(ttl: "9223372036854775807"))) == .invalidFormat)
        #expect(try fixture.verdict(signed(payload(ttl: "-1"))) == .invalidFormat)
        #expect(try fixture.verdict(signed(payload(resource: "&x;"))) == .invalidFormat)
        #expect(try fixture.verdict(signed(payload(resource: "&#xD800;"))) == .invalidFormat)
        #expect(try fixture.verdict(signed(payload(resource: "a<b/>"))) == .invalidFormat)
        #expect(try fixture.verdict(signed(payload()) + "A") == .invalidFormat)
    }

    @Test("rest-v1 #72: tokens of one second differ, and keep their facts apart from the time")
    func tokensOfOneSecondDiffer() async throws {
        var tokens: Set<String> = []
        for _ in 0..<120 {
            let issued = try await fixture.issuer.issue(MediaTokenFixture.play, form: .reference)
            tokens.insert(issued.serialized)
            #expect(fixture.verdict(issued.serialized) == .valid)
            #expect(issued.facts.sessionGUID == MediaTokenFixture.play.sessionGUID)
        }
        #expect(tokens.count == 120)
        await #expect(throws: (any Error).self) { try await fixture.issuer.issue(MediaTokenFixture.play, form: .reference) }
        var other = MediaTokenFixture.play
        other.resource = "CHAN7-SD"
        #expect(try await fixture.issuer.issue(other, form: .reference).facts.issuedAt == Timestamp(seconds: 1_741_083_330))
    }

    private func payload(
        root: String = "shortAuthorizationToken", ttl: String = "420000", issueTime: String = "2025-03-04 10:15:30 +0000",
        resource: String = "CHAN7-HD"
    ) -> String {
        "<\(root)><sessionGUID>ab</sessionGUID><requestorID>CHAN7</requestorID><resourceID>\(resource)</resourceID>"
            + "<ttl>\(ttl)</ttl><issueTime>\(issueTime)</issueTime><mvpdId>DemoCable</mvpdId></\(root)>"
    }

    /// A document that the trusted key has really signed.
    private func signed(_ payload: String, ending: String = "<signatureInfo>") throws -> String {
        guard case .rsa(let key) = fixture.identity.key else { throw CryptographyError.wrongKeyType(expected: "RSA", found: "another") }
        let signature = Base64.standard.encode(try key.sign(Array(payload.utf8)))
        return Base64.standard.encode(Array("<signatureInfo>\(signature)\(ending)\(payload)".utf8))
    }

    private static func split(_ token: String) throws -> (signature: String, payload: String) {
        let text = String(decoding: try #require(Base64.standard.decode(token)), as: UTF8.self)
        let parts = text.split(separator: "<signatureInfo>", omittingEmptySubsequences: false).map(String.init)
        try #require(parts.count == 3 && parts[0].isEmpty)
        return (parts[1], parts[2])
    }

    private static func openssl(_ arguments: String...) throws -> Int32 {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/openssl")
        process.arguments = arguments
        process.standardOutput = Pipe()
        process.standardError = Pipe()
        try process.run()
        process.waitUntilExit()
        return process.terminationStatus
    }
}
