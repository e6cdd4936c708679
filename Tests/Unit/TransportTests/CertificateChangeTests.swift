import Cryptography
import TestIdentities
import Testing
import Transport

/// Certificates that are taken back, hosts' names, and a change of the authority.
@Suite struct CertificateChangeTests {
    let old: TestIdentities
    let new: TestIdentities

    init() throws {
        old = try TestIdentities()
        new = try TestIdentities()
    }

    private static func digest(_ identities: TestIdentities, _ file: String) throws -> CertificateDigest {
        try #require(CertificateDigest(try Certificate(pemFile: identities.path(file)).fingerprint))
    }

    @Test func aCallersCertificateThatWasTakenBackIsRefused() throws {
        let client = try old.identity("client.boxoffice")
        try old.issue("server", names: ["server.boxoffice"])
        let refused = [try Self.digest(old, "client.boxoffice.crt")]
        let server = try TlsIdentity(files: old.files("server"), refused: refused)
        let pair = try EmbeddedPair(client: client, server: server)
        try pair.exchange()
        #expect(pair.serverEvents.errors.map(\.code) == [.untrustedPeer])
        #expect(pair.serverEvents.errors.first?.message.contains("revoked") == true)
        #expect(pair.clientEvents.errors.map(\.code) == [.refusedByPeer])

        try old.issue("again", names: ["client.boxoffice"])
        let again = try EmbeddedPair(client: TlsIdentity(files: old.files("again")), server: server)
        try again.exchange()
        #expect(again.serverEvents.peerNames == ["client.boxoffice"], "the name may come again with another certificate")

        #expect(throws: Never.self) { try server.reload() }
        let reloaded = try EmbeddedPair(client: client, server: server)
        try reloaded.exchange()
        #expect(reloaded.serverEvents.peerNames == nil, "what is refused stays so when the files are read again")
    }

    @Test func aCalleesCertificateOrItsAuthorityIsRefused() throws {
        let server = try old.identity("server.boxoffice")
        try old.issue("client", names: ["client.boxoffice"])
        for file in ["server.boxoffice.crt", "ca.crt"] {
            let client = try TlsIdentity(
                files: old.files("client"), refused: [CertificateDigest([UInt8](repeating: 0, count: 32))!, try Self.digest(old, file)])
            let pair = try EmbeddedPair(client: client, server: server)
            try pair.exchange()
            #expect(pair.clientEvents.errors.map(\.code) == [.untrustedPeer], "\(file)")
        }
        #expect(CertificateDigest([1, 2, 3]) == nil)
    }

    /// Both files have both authorities; then one end after the other gets a certificate of the new one; then the old one goes.
    @Test func theAuthorityChangesWithoutAPause() throws {
        let both = try [old, new].map { try $0.authority.certificate.pem() }.joined()
        for (identities, file) in [(old, "client"), (old, "server"), (new, "client"), (new, "server")] {
            try identities.issue(file, names: ["\(file).boxoffice"])
        }
        for identities in [old, new] { try identities.write(both, "both.crt") }
        func identity(_ identities: TestIdentities, _ file: String, anchors: String = "both.crt") throws -> TlsIdentity {
            var files = identities.files(file)
            files.trustAnchors = identities.path(anchors)
            return try TlsIdentity(files: files)
        }
        func agree(_ client: TlsIdentity, _ server: TlsIdentity) throws -> Bool {
            let pair = try EmbeddedPair(client: client, server: server)
            try pair.exchange()
            return pair.clientEvents.peerNames == ["server.boxoffice"] && pair.serverEvents.peerNames == ["client.boxoffice"]
        }
        let (oldClient, newClient) = (try identity(old, "client"), try identity(new, "client"))
        let (oldServer, newServer) = (try identity(old, "server"), try identity(new, "server"))
        for (client, server) in [(oldClient, oldServer), (oldClient, newServer), (newClient, oldServer), (newClient, newServer)] {
            #expect(try agree(client, server))
        }
        let last = try identity(new, "server", anchors: "ca.crt")
        #expect(try agree(newClient, last))
        #expect(try !agree(oldClient, last))
    }

    @Test func aProgramKnowsTheHostInItsCertificate() throws {
        try old.issue("plain", names: ["server.boxoffice", "localhost"])
        #expect(try TlsIdentity(files: old.files("plain")).hostName == nil)
        try old.issue("host", names: ["server.boxoffice", "server.a1.boxoffice"])
        #expect(try TlsIdentity(files: old.files("host")).hostName == "server.a1.boxoffice")
    }

    @Test(
        arguments: [
            (["a.boxoffice", "a.h.boxoffice"], "a.h.boxoffice"), (["a.h-1.example.boxoffice", "a.boxoffice"], "a.h-1.example.boxoffice"),
            (["a.boxoffice", "b.h.boxoffice"], nil), (["a.h.boxoffice"], nil), (["a.boxoffice", "a.h.example"], nil), ([], nil),
            (["a.boxoffice", "a.boxoffice", "localhost"], nil),
        ] as [([String], String?)])
    func hostsAreNamesBesideTheirRole(names: [String], host: String?) {
        #expect(HostName.of(names) == host)
        #expect(HostName.roles(in: names) == names.filter { $0 != host })
    }
}
