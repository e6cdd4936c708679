internal import Clocks
internal import Cryptography
internal import Foundation
@testable import GatewayEdge
internal import Hummingbird
internal import HummingbirdTesting
internal import NIOCore
internal import NIOPosix
internal import NIOSSL
internal import Synchronization
internal import Testing

/// Certificates by the name that a client asks for in its handshake (RFC 6066 §3).
@Suite struct HttpsNamesTests {
    private static let get = "GET /healthz HTTP/1.1\r\nHost: api.tv.example\r\n\r\n"

    /// A gateway with a certificate for everybody and one for each of two names, all of one authority.
    private struct Served: Sendable {
        let port: Int
        let standard: CertificateFiles
        let api: CertificateFiles
        let watch: CertificateFiles
        let certificates: (standard: HttpsCertificate, api: HttpsCertificate, watch: HttpsCertificate)
    }

    private static func serving(_ body: @escaping @Sendable (Served) async throws -> Void) async throws {
        let standard = try CertificateFiles()
        let (api, watch) = (try CertificateFiles(authority: standard.authority), try CertificateFiles(authority: standard.authority))
        defer { [standard, api, watch].forEach { $0.remove() } }
        try standard.issue(["tv.example"])
        try api.issue(["api.tv.example"])
        try watch.issue(["*.acme.example"])
        let apiCertificate = try HttpsCertificate(certificateFile: api.certificate, keyFile: api.key, use: "https api", name: "api.tv.example")
        let watchCertificate = try HttpsCertificate(
            certificateFile: watch.certificate, keyFile: watch.key, use: "https watch", name: "watch.acme.example")
        let certificate = try HttpsCertificate(
            certificateFile: standard.certificate, keyFile: standard.key, served: ["tv.example"],
            others: ["api.tv.example": apiCertificate, "watch.acme.example": watchCertificate])
        let gateway = TestGateway(
            connections: ConnectionLimits(maximum: 500, head: .seconds(60), idle: .seconds(60), drain: .seconds(1)),
            tls: HttpsSettings(listen: "127.0.0.1:0", certificate: standard.certificate, key: standard.key),
            hosts: [HostSettings(name: "api.tv.example"), HostSettings(name: "watch.acme.example")])
        try await gateway.exchange(over: .live, certificate: certificate) { client in
            try await body(
                Served(
                    port: try #require(client.port), standard: standard, api: api, watch: watch,
                    certificates: (certificate, apiCertificate, watchCertificate)))
        }
    }

    /// The names of the certificate that a client is shown.
    /// - Parameter name: That it asks for; `nil`: none.
    private static func shown(_ served: Served, to name: String?, tls version: TLSVersion? = nil) async throws -> [String] {
        let leaf = Mutex<[UInt8]>([])
        var tls = try served.standard.client()
        if let version { (tls.minimumTLSVersion, tls.maximumTLSVersion) = (version, version) }
        let context = try NIOSSLContext(configuration: tls)
        let shaken = MultiThreadedEventLoopGroup.singleton.any().makePromise(of: Void.self)
        let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton).channelInitializer { channel in
            channel.eventLoop.makeCompletedFuture {
                let handler = try NIOSSLClientHandler(context: context, serverHostname: name) { certificates, promise in
                    leaf.withLock { $0 = (try? certificates.first?.toDERBytes()) ?? [] }
                    promise.succeed(.certificateVerified)
                    shaken.succeed()
                }
                try channel.pipeline.syncOperations.addHandler(handler)
            }
        }.connect(host: "127.0.0.1", port: served.port).get()
        channel.closeFuture.whenComplete { _ in shaken.fail(ChannelError.eof) }
        try await shaken.futureResult.get()
        try? await channel.close().get()
        return try Certificate(der: leaf.withLock { $0 }).dnsNames
    }

    @Test(
        "each name has its certificate; none, an unknown one and one that is no name have that of gateway.tls",
        arguments: [TLSVersion.tlsv12, .tlsv13])
    func names(version: TLSVersion) async throws {
        try await Self.serving { served in
            let cases: [(name: String?, shown: String)] = [
                ("api.tv.example", "api.tv.example"), ("API.tv.EXAMPLE", "api.tv.example"), ("watch.acme.example", "*.acme.example"),
                ("tv.example", "tv.example"), (nil, "tv.example"), ("evil.example", "tv.example"), ("api.tv.example.evil.example", "tv.example"),
                ("other.acme.example", "tv.example"),
            ]
            for (name, expected) in cases {
                let names = try await Self.shown(served, to: name, tls: version)
                #expect(names == [expected], "\(name ?? "no name")")
            }
        }
    }

    @Test("a client that checks chain and name is content at each name, over HTTP/1.1 and what it negotiates")
    func checkedNames() async throws {
        try await Self.serving { served in
            for name in ["tv.example", "api.tv.example", "watch.acme.example"] {
                var tls = try served.standard.client()
                tls.certificateVerification = .fullVerification
                try await RawConnection.with(served.port, tls: tls, name: name) { connection in
                    await connection.send(Self.get)
                    try await connection.wait(for: "the answer") { $0.statuses == [200] }
                }
            }
            var tls = try served.standard.client()
            tls.certificateVerification = .fullVerification
            try await RawConnection.with(served.port, tls: tls, name: "evil.example") { connection in
                await connection.send(Self.get)
                try await connection.wait(for: "the end") { $0.isClosed }
                #expect(connection.statuses.isEmpty)
            }
        }
    }

    @Test("a certificate of one name is replaced without a restart, and open connections and the other names notice nothing")
    func reload() async throws {
        try await Self.serving { served in
            let open = try await RawConnection.open(served.port, tls: try served.standard.client(), name: "api.tv.example")
            await open.send(Self.get)
            try await open.wait(for: "an answer") { $0.statuses == [200] }
            try served.api.issue(["api.tv.example", "new.tv.example"])
            #expect(try served.certificates.api.reload())
            #expect(try !served.certificates.standard.reload() && !served.certificates.watch.reload())
            #expect(try await Self.shown(served, to: "api.tv.example") == ["api.tv.example", "new.tv.example"])
            #expect(try await Self.shown(served, to: "watch.acme.example") == ["*.acme.example"])
            #expect(try await Self.shown(served, to: nil) == ["tv.example"])
            // The one of everybody, too, while the others stay theirs.
            try served.standard.issue(["tv.example", "www.tv.example"])
            #expect(try served.certificates.standard.reload())
            #expect(try await Self.shown(served, to: "evil.example") == ["tv.example", "www.tv.example"])
            #expect(try await Self.shown(served, to: "api.tv.example") == ["api.tv.example", "new.tv.example"])
            await open.send(Self.get)
            try await open.wait(for: "another answer") { $0.statuses == [200, 200] }
            await open.close()
        }
    }

    @Test("files that are no good for a name are refused with the reason, told once, and the certificate from before goes on")
    func refusedReloads() async throws {
        try await Self.serving { served in
            let (files, certificate) = (served.api, served.certificates.api)
            let day: Duration = .seconds(86_400)
            let now = SystemClock().now()
            let good = (try String(contentsOfFile: files.certificate, encoding: .utf8), try String(contentsOfFile: files.key, encoding: .utf8))
            let cases: [(change: () throws -> Void, reason: String)] = [
                ({ try files.issue(["other.example"]) }, "is for other.example, not for 'api.tv.example'"),
                ({ try files.issue(["*.api.tv.example"]) }, "not for 'api.tv.example'"),
                (
                    { try files.issue(["api.tv.example"], validity: CertificateValidity(notBefore: now - day - day, notAfter: now - day)) },
                    "ended at"
                ),
                (
                    { try files.issue(["api.tv.example"], validity: CertificateValidity(notBefore: now + day, notAfter: now + day + day)) },
                    "is good from"
                ),
                ({ try files.write(good.0, files.certificate) }, "do not belong together"),
                ({ try FileManager.default.removeItem(atPath: files.key) }, "cannot be read"),
                ({ try files.write("no key", files.key) }, "holds no private key in PEM form"),
                ({ try files.write("no certificate", files.certificate) }, "holds no certificate in PEM form"),
            ]
            for (change, reason) in cases {
                try change()
                let problem = #expect(throws: HttpsError.self) { try certificate.reload() }
                #expect(problem?.description.contains(reason) == true, "\(reason): \(problem?.description ?? "")")
                #expect(try !certificate.reload(), "told once")
                #expect(throws: HttpsError.self) { try certificate.reload(again: true) }
                #expect(try await Self.shown(served, to: "api.tv.example") == ["api.tv.example"])
            }
            // Back to what was good: nothing new, and nothing wrong.
            try files.write(good.1, files.key)
            try files.write(good.0, files.certificate)
            #expect(try !certificate.reload(again: true))
            #expect(certificate.doubts.isEmpty)
        }
    }

    @Test("the certificate of everybody keeps the names that are served with it")
    func keepsNames() async throws {
        try await Self.serving { served in
            try served.standard.issue(["www.tv.example"])
            let problem = #expect(throws: HttpsError.self) { try served.certificates.standard.reload() }
            #expect(problem?.description.contains("is for www.tv.example, not for 'tv.example'") == true)
            #expect(try await Self.shown(served, to: nil) == ["tv.example"])
            try served.standard.issue(["*.tv.example", "tv.example"])
            #expect(try served.certificates.standard.reload())
        }
    }

    @Test(
        "at the start a certificate for another name is refused; one that has ended is shown, with a doubt: without it there would be no service at all"
    )
    func start() throws {
        let files = try CertificateFiles()
        defer { files.remove() }
        try files.issue(["other.example", "b.example", "c.example", "d.example", "e.example", "f.example"])
        let problem = #expect(throws: HttpsError.self) {
            try HttpsCertificate(certificateFile: files.certificate, keyFile: files.key, name: "api.tv.example")
        }
        #expect(problem?.description.contains("e.example and 1 more, not for 'api.tv.example'") == true, "\(problem?.description ?? "")")
        let doubtful = try HttpsCertificate(certificateFile: files.certificate, keyFile: files.key, served: ["tv.example", "b.example"])
        #expect(doubtful.doubts.count == 1 && doubtful.doubts[0].contains("not for 'tv.example'"))

        let now = SystemClock().now()
        try files.issue(["api.tv.example"], validity: CertificateValidity(notBefore: now - .seconds(7200), notAfter: now - .seconds(3600)))
        let over = try HttpsCertificate(certificateFile: files.certificate, keyFile: files.key, name: "api.tv.example")
        #expect(over.doubts.count == 1 && over.doubts[0].contains("ended at"))
        // A renewed one takes its place.
        try files.issue(["api.tv.example"])
        #expect(try over.reload() && over.doubts.isEmpty)
    }

    @Test("names of a certificate are compared as clients do")
    func comparison() throws {
        let files = try CertificateFiles()
        defer { files.remove() }
        try files.issue(["TV.example", "*.tv.example"])
        let facts = CertificateFacts(try Certificate(pemFile: files.certificate))
        #expect(facts.covers("tv.example") && facts.covers("api.tv.example"))
        for name in ["a.api.tv.example", ".tv.example", "example", "tv.example.evil.example", "evil-tv.example", ""] {
            #expect(!facts.covers(name), "\(name)")
        }
    }
}
