import TestIdentities
import Foundation
import NIOCore
import Testing
import Transport

@Suite struct TlsIdentityTests {
    let identities: TestIdentities

    init() throws {
        identities = try TestIdentities()
    }

    @Test func namesFileThatIsAbsent() throws {
        try identities.issue("server", names: ["server.boxoffice"])
        var files = identities.files("server")
        files.key = identities.path("nowhere.key")
        let error = try #require(throws: TlsError.self) { try TlsIdentity(files: files) }
        #expect(error.code == .unusableFile)
        #expect(error.message.contains("nowhere.key"))
        #expect(error.message.contains("private key"))
    }

    @Test func namesFileThatIsNoKey() throws {
        try identities.issue("server", names: ["server.boxoffice"])
        try identities.write("no key", "server.key")
        let error = try #require(throws: TlsError.self) { try TlsIdentity(files: identities.files("server")) }
        #expect(error.code == .unusableFile)
        #expect(error.message.contains("server.key"))
    }

    @Test func refusesKeyOfAnotherCertificate() throws {
        try identities.issue("server", names: ["server.boxoffice"])
        try identities.issue("other", names: ["other.boxoffice"])
        var files = identities.files("server")
        files.key = identities.path("other.key")
        let error = try #require(throws: TlsError.self) { try TlsIdentity(files: files) }
        #expect(error.code == .unusableFile)
    }

    @Test func newConnectionsGetTheReloadedCertificate() throws {
        let client = try identities.identity("client.boxoffice")
        try identities.issue("server", names: ["old.boxoffice"])
        let server = try TlsIdentity(files: identities.files("server"))
        let old = try EmbeddedPair(client: client, expecting: "old.boxoffice", server: server)
        try old.exchange()
        #expect(try !server.reloadIfChanged())

        try identities.issue("server", names: ["new.boxoffice"])
        #expect(try server.reloadIfChanged())
        let new = try EmbeddedPair(client: client, expecting: "new.boxoffice", server: server)
        try new.exchange()
        #expect(new.clientEvents.peerNames == ["new.boxoffice"])

        try old.client.writeOutbound(ByteBuffer(string: "still here"))
        try old.exchange()
        #expect(String(buffer: old.serverEvents.received) == "still here")
    }

    @Test func keepsOldCertificateWhenTheNewOneIsBad() throws {
        let client = try identities.identity("client.boxoffice")
        let server = try identities.identity("server.boxoffice")
        try identities.write("-----BEGIN CERTIFICATE-----\nbroken\n", "server.boxoffice.crt")
        for _ in 0..<2 {
            let error = try #require(throws: TlsError.self) { try server.reloadIfChanged() }
            #expect(error.message.contains("server.boxoffice.crt"))
        }
        let pair = try EmbeddedPair(client: client, server: server)
        try pair.exchange()
        #expect(pair.clientEvents.peerNames == ["server.boxoffice"])
    }

    @Test("a key that is encrypted says so, and asks nobody for its passphrase")
    func encryptedKey() throws {
        try identities.issue("server", names: ["server.boxoffice"])
        let key = try String(contentsOfFile: identities.path("server.key"), encoding: .utf8)
        let kind = "RSA PRIVATE KEY"
        for text in [
            key.replacing("PRIVATE KEY", with: "ENCRYPTED PRIVATE KEY"),
            "-----BEGIN \(kind)-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-256-CBC,00112233445566778899AABBCCDDEEFF\n\nAAAA\n-----END \(kind)-----\n",
        ] {
            try identities.write(text, "server.key")
            let error = try #require(throws: TlsError.self) { try TlsIdentity(files: identities.files("server")) }
            #expect(error.message.contains("server.key cannot be used: it is encrypted with a passphrase"), "\(error)")
        }
    }

    @Test("an authority before the certificate, and marks before the texts, are no hindrance")
    func orderAndMarks() throws {
        let client = try identities.identity("client.boxoffice")
        try identities.issue("server", names: ["server.boxoffice"])
        var files = identities.files("server")
        func text(_ path: String) throws -> String { try String(contentsOfFile: path, encoding: .utf8) }
        let (certificate, key, anchors) = (try text(files.certificate), try text(files.key), try text(files.trustAnchors))
        try identities.write("\u{FEFF}\(anchors)\(certificate)", "server.crt")
        try identities.write("\u{FEFF}\(key)", "server.key")
        try identities.write("\u{FEFF}\(anchors)", "marked.crt")
        files.trustAnchors = identities.path("marked.crt")
        let pair = try EmbeddedPair(client: client, expecting: "server.boxoffice", server: TlsIdentity(files: files))
        try pair.exchange()
        #expect(pair.clientEvents.peerNames == ["server.boxoffice"])
    }
}
