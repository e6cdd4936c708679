internal import Cryptography
internal import Foundation
@testable import GatewayEdge
internal import Hummingbird
internal import HummingbirdTesting
internal import NIOSSL
internal import Testing

/// Certificates in a folder of their own.
struct CertificateFiles: Sendable {
    let folder: URL
    let authority: CertificateAuthority

    /// - Parameter authority: That signs; one of its own when it is `nil`.
    init(authority: CertificateAuthority? = nil) throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "https-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        self.authority = try authority ?? CertificateAuthority.create(name: "Test authority")
        try issue("first.example")
    }

    var certificate: String { folder.appending(path: "https.crt").path }
    var key: String { folder.appending(path: "https.key").path }

    /// Replaces both files.
    func issue(_ name: String) throws { try issue([name, "localhost"], addresses: ["127.0.0.1"]) }

    /// The same for names and a time of choice.
    func issue(_ names: [String], addresses: [String] = [], validity: CertificateValidity = .days(365)) throws {
        let identity = try authority.issue(
            commonName: names[0], names: CertificateNames(dns: names, addresses: addresses), validity: validity)
        try write(identity.key.pem(), key)
        try write(identity.certificate.pem(), certificate)
    }

    func write(_ text: String, _ file: String) throws { try Data(text.utf8).write(to: URL(fileURLWithPath: file), options: .atomic) }

    func remove() { try? FileManager.default.removeItem(at: folder) }

    /// A client that trusts these certificates.
    func client(_ protocols: [String] = ["http/1.1"]) throws -> TLSConfiguration {
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.trustRoots = .certificates(try NIOSSLCertificate.fromPEMBytes(Array(authority.certificate.pem().utf8)))
        configuration.certificateVerification = .noHostnameVerification
        configuration.applicationProtocols = protocols
        return configuration
    }
}

@Suite struct HttpsTests {
    private static let get = "GET /healthz HTTP/1.1\r\nHost: tv.example\r\n\r\n"

    /// Runs a gateway on HTTPS.
    static func serving(
        insecureCookies: Bool = false, head: Duration = .seconds(60), body bodyTimeout: Duration = .seconds(60),
        overload: OverloadSettings = TestGateway.patient,
        prepare: (TestGateway) -> Void = { _ in },
        _ body: @escaping @Sendable (Int, CertificateFiles, HttpsCertificate) async throws -> Void
    ) async throws {
        let files = try CertificateFiles()
        defer { files.remove() }
        let certificate = try HttpsCertificate(certificateFile: files.certificate, keyFile: files.key)
        let gateway = TestGateway(
            insecureCookies: insecureCookies, connections: ConnectionLimits(maximum: 500, head: head, idle: .seconds(60), drain: .seconds(1)),
            bodyTimeout: bodyTimeout, tls: HttpsSettings(listen: "127.0.0.1:0", certificate: files.certificate, key: files.key), overload: overload)
        prepare(gateway)
        try await gateway.exchange(over: .live, certificate: certificate) { client in
            let port = try #require(client.port)
            try await body(port, files, certificate)
            try await expectService(port, files)
        }
    }

    static func expectService(_ port: Int, _ files: CertificateFiles) async throws {
        try await RawConnection.with(port, tls: try files.client()) { connection in
            await connection.send(get)
            try await connection.wait(for: "service to others") { $0.statuses == [200] }
        }
    }

    private static let signIn =
        "/api/v1/authenticate?requestor_id=ACME1&mso_id=NorthCable&reg_code=QK7M2XD&domain_name=acme.example"
        + "&redirect_url=https://acme.example/"

    @Test func answersCarryStrictTransportSecurityAndSecureCookiesEvenWherePlainHttpHasOthers() async throws {
        try await Self.serving(insecureCookies: true) { port, files, _ in
            try await RawConnection.with(port, tls: try files.client()) { connection in
                await connection.send("GET \(Self.signIn) HTTP/1.1\r\nHost: tv.example\r\n\r\n")
                try await connection.wait(for: "the answer") { $0.statuses == [302] }
                #expect(connection.text.contains("Strict-Transport-Security: max-age=31536000"))
                #expect(connection.text.contains("__Host-signin-") && connection.text.contains("Secure"))
            }
        }
        let plain = try await TestGateway(insecureCookies: true).get(Self.signIn, [:])
        #expect(plain.headers[.setCookie]?.hasPrefix("boxoffice-signin-") == true)
        #expect(plain.headers[.strictTransportSecurity] == nil)
    }

    @Test(arguments: [(TLSVersion.tlsv12, TLSVersion.tlsv12, true), (.tlsv13, .tlsv13, true), (.tlsv1, .tlsv11, false)])
    func versionsOfTls(lowest: TLSVersion, highest: TLSVersion, isServed: Bool) async throws {
        try await Self.serving { port, files, _ in
            var tls = try files.client()
            tls.minimumTLSVersion = lowest
            tls.maximumTLSVersion = highest
            try await RawConnection.with(port, tls: tls) { connection in
                await connection.send(Self.get)
                try await connection.wait(for: "an answer or the end") { $0.isClosed || $0.statuses == [200] }
                #expect((connection.statuses == [200]) == isServed)
            }
        }
    }

    @Test func aNewCertificateIsForNewHandshakesAndABrokenOneForNone() async throws {
        try await Self.serving { port, files, certificate in
            let old = try await RawConnection.open(port, tls: try files.client())
            await old.send(Self.get)
            try await old.wait(for: "the first answer") { $0.statuses == [200] }
            let first = certificate.context
            #expect(try !certificate.reload())
            #expect(certificate.context === first)

            try files.issue("second.example")
            #expect(try certificate.reload())
            #expect(certificate.context !== first)
            await old.send(Self.get)
            try await old.wait(for: "an answer on the old connection") { $0.statuses == [200, 200] }
            try await Self.expectService(port, files)

            let second = certificate.context
            try files.write("no certificate", files.certificate)
            #expect(throws: HttpsError.self) { try certificate.reload() }
            #expect(try !certificate.reload(), "the same problem is told once")
            #expect(throws: HttpsError.self) { try certificate.reload(again: true) }
            #expect(certificate.context === second)
            try await Self.expectService(port, files)
            await old.close()
        }
    }

    @Test func filesThatCannotBeUsedAreNamed() throws {
        let files = try CertificateFiles()
        defer { files.remove() }
        let others = try CertificateFiles()
        defer { others.remove() }
        let cases = [
            (files.certificate, others.key, "do not belong together"), (files.key, files.key, "holds no certificate in PEM form"),
            (files.certificate, files.certificate, "holds no private key in PEM form"), ("/nowhere.crt", files.key, "/nowhere.crt"),
        ]
        for (certificate, key, text) in cases {
            let problem = #expect(throws: HttpsError.self) { try HttpsCertificate(certificateFile: certificate, keyFile: key) }
            #expect(problem?.description.contains(text) == true, "\(problem?.description ?? "")")
        }
    }

    @Test(.tags(.timing)) func whoSpeaksPlainHttpOrNothingAtAllDisturbsNobody() async throws {
        try await Self.serving(head: .milliseconds(400)) { port, files, _ in
            try await RawConnection.with(port) { connection in
                await connection.send(Self.get)
                try await connection.wait(for: "the end") { $0.isClosed }
                #expect(!connection.text.contains("200"))
            }
            var silent: [RawConnection] = []
            for _ in 0..<40 { silent.append(try await RawConnection.open(port)) }
            try await Self.expectService(port, files)
            for connection in silent { try await connection.wait(for: "the end of a handshake that never was") { $0.isClosed } }
        }
    }

    @Test("clients #25: plain HTTP is for loopback, unless it is allowed")
    func plainHttpIsForLoopbackUnlessItIsAllowed() {
        var settings = GatewaySettings(listen: "0.0.0.0:8080", publicOrigin: "https://tv.example", pages: "Pages")
        #expect(settings.problem?.key == "listen" && settings.problem?.text.contains("gateway.allowPlainHTTP") == true)
        settings.allowsPlainHTTP = true
        #expect(settings.problem == nil)
        for address in ["127.0.0.1:80", "[::1]:80", "localhost:80", "127.9.9.9:1"] {
            #expect(GatewaySettings(listen: address, publicOrigin: "https://tv.example", pages: "Pages").problem == nil, "\(address)")
        }
    }

    @Test("a check of settings tells what is served in plain HTTP to others, and that nobody is limited; of what is right it says nothing")
    func settingsHaveDoubts() {
        var settings = GatewaySettings(listen: "127.0.0.1:8080", publicOrigin: "https://tv.example", pages: "Pages", signedPlainHTTP: .all)
        #expect(settings.doubts.isEmpty, "signed requests come from this machine alone")
        (settings.listen, settings.allowsPlainHTTP, settings.admin.listen) = ("0.0.0.0:8080", true, "10.0.0.21:8081")
        settings.shares = ShareSettings(perApplication: 0, perRequestor: 0)
        #expect(settings.problem == nil)
        let keys = settings.doubts.map { $0.prefix { $0 != " " } }
        #expect(keys == ["gateway.listen", "gateway.signedPlainHTTP", "gateway.admin.listen", "gateway.shares"])
        (settings.admin.certificate, settings.admin.key, settings.signedPlainHTTP) = ("a.crt", "a.key", .strict)
        settings.shares = ShareSettings(perApplication: 0, perRequestor: 4000)
        #expect(settings.doubts.map { $0.prefix { $0 != " " } } == ["gateway.listen"])
    }

    @Test("a chain with its authority first is put in order, and an encrypted key says what it is")
    func filesAsPeopleMakeThem() async throws {
        let files = try CertificateFiles()
        defer { files.remove() }
        let (leaf, key) = (
            try String(contentsOfFile: files.certificate, encoding: .utf8), try String(contentsOfFile: files.key, encoding: .utf8)
        )
        try files.write("\u{FEFF}\(files.authority.certificate.pem())\(leaf)", files.certificate)
        try files.write("\u{FEFF}\(key)", files.key)
        let certificate = try HttpsCertificate(certificateFile: files.certificate, keyFile: files.key)
        let gateway = TestGateway(tls: HttpsSettings(listen: "127.0.0.1:0", certificate: files.certificate, key: files.key))
        try await gateway.exchange(over: .live, certificate: certificate) { client in
            try await Self.expectService(try #require(client.port), files)
        }
        try files.write(key.replacing("PRIVATE KEY", with: "ENCRYPTED PRIVATE KEY"), files.key)
        let problem = #expect(throws: HttpsError.self) { try HttpsCertificate(certificateFile: files.certificate, keyFile: files.key) }
        #expect(problem?.description.hasPrefix("the file \(files.key) is encrypted with a passphrase") == true)
        try files.write(CertifiedKey.selfSigned(commonName: "other").key.pem(), files.key)
        try files.write(leaf, files.certificate)
        let other = #expect(throws: HttpsError.self) { try HttpsCertificate(certificateFile: files.certificate, keyFile: files.key) }
        #expect(other?.description.contains("do not belong together") == true)
    }
}
