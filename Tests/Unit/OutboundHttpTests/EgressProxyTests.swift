import Cryptography
import Foundation
import NIOCore
import NIOPosix
import Testing

@testable import OutboundHttp

@Suite("Calls through an egress proxy")
struct EgressProxyTests {
    /// Debian's tinyproxy, on a port of its own; it ends with the test.
    private final class TinyProxy {
        let port: Int
        private let process = Process()
        private let folder: URL

        var log: String { (try? String(contentsOf: folder.appendingPathComponent("log"), encoding: .utf8)) ?? "" }

        /// - Parameter settings: Further lines of its settings.
        init(_ settings: String = "") async throws {
            let program = "/usr/bin/tinyproxy"
            try #require(FileManager.default.isExecutableFile(atPath: program), "install tinyproxy-bin; Tests/run does")
            folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            let free = PlainServer()
            port = try await free.start()
            try await free.stop()
            let text = """
                Port \(port)
                Listen 127.0.0.1
                Timeout 60
                MaxClients 20
                LogFile "\(folder.path)/log"
                LogLevel Info
                \(settings)

                """
            try Data(text.utf8).write(to: folder.appendingPathComponent("conf"))
            process.executableURL = URL(fileURLWithPath: program)
            process.arguments = ["-d", "-c", folder.appendingPathComponent("conf").path]
            process.standardOutput = FileHandle.nullDevice
            process.standardError = FileHandle.nullDevice
            try process.run()
            let end = ContinuousClock.now + .seconds(60)
            while ContinuousClock.now < end {
                let bootstrap = ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                if let channel = try? await bootstrap.connect(host: "127.0.0.1", port: port).get() {
                    try? await channel.close()
                    return
                }
                try await Task.sleep(for: .milliseconds(20))
            }
            Issue.record("tinyproxy does not listen: \(log)")
        }

        deinit {
            // It would wait for connections that are open.
            kill(process.processIdentifier, SIGKILL)
            try? FileManager.default.removeItem(at: folder)
        }
    }

    /// The server's certificate, and the authority that the client trusts.
    private static func identity() throws -> (CertifiedKey, authority: Certificate) {
        let authority = try CertificateAuthority.create(name: "Test")
        return (
            try authority.issue(commonName: "self.example", names: CertificateNames(dns: ["self.example", "localhost"])),
            authority.certificate
        )
    }

    /// The result of a call to a server of ours through the proxies.
    private func call(
        _ proxies: EgressProxies, host: String = "self.example", isPlain: Bool = false, connect: Duration = .seconds(30)
    ) async throws -> (failure: OutboundFailure?, server: String, port: Int) {
        let server = PlainServer()
        let (identity, authority) = try Self.identity()
        let port = try await server.start(isPlain ? nil : identity)
        let names = DocumentFetchTests.Names(["self.example": [["::1", "127.0.0.1"]]])
        let http = OutboundHttp(OutboundOptions(userAgent: "Boxoffice/9", proxies: proxies), names: names)
        let route = OutboundRoute(
            peer: "test", trustAnchors: [authority.der], connectTimeout: connect, responseTimeout: .seconds(30), connections: 1)
        var failure: OutboundFailure?
        do throws(OutboundFailure) {
            let request = OutboundRequest(.get, "\(isPlain ? "http" : "https")://\(host):\(port)/api")
            _ = try await http.send(request, by: route, timeLeft: .seconds(60))
        } catch { failure = error }
        await http.shutdown()
        try await server.stop()
        return (failure, server.text, port)
    }

    @Test("RFC 9110 §9.3.6: CONNECT names the address that was looked up here; Host, and the name in TLS, stay the server's")
    func pins() async throws {
        let proxy = try await TinyProxy()
        let (failure, server, port) = try await call(EgressProxies(standard: EgressProxy(host: "127.0.0.1", port: proxy.port)))
        #expect(failure == nil, "\(failure?.cause ?? "")")
        #expect(server.lowercased().contains("host: self.example:\(port)") && server.contains("Boxoffice/9"))
        #expect(proxy.log.contains("CONNECT 127.0.0.1:\(port)") && !proxy.log.contains("self.example"), "\(proxy.log)")
    }

    @Test(
        "with proxyResolves the proxy gets the name, and nobody here looks it up; addresses that people type are checked and given as addresses all the same"
    )
    func handsOver() async throws {
        let proxy = try await TinyProxy()
        let options = EgressProxies(standard: EgressProxy(host: "127.0.0.1", port: proxy.port, resolvesNames: true))
        // The names here do not have it.
        let (failure, server, port) = try await call(options, host: "localhost")
        #expect(failure == nil, "\(failure?.cause ?? "")")
        #expect(server.contains("localhost:\(port)") && proxy.log.contains("CONNECT localhost:\(port)"), "\(proxy.log)")
        let typed = PlainServer()
        let other = try await typed.start(try Self.identity().0)
        let outbound = OutboundOptions(proxies: options)
        let fetch = DocumentFetch(
            limits: .init(time: .seconds(60), allowsPrivate: true), names: DocumentFetchTests.Names(["self.example": [["127.0.0.1"]]]),
            carrier: PinnedHttp(options: outbound))
        await #expect(throws: DocumentFetch.Refusal.self) { _ = try await fetch.document(at: "https://self.example:\(other)/") }
        #expect(proxy.log.contains("CONNECT 127.0.0.1:\(other)") && !proxy.log.contains("CONNECT self.example"), "\(proxy.log)")
        try await typed.stop()
    }

    @Test(
        "servers of noProxy, by name, domain or network, and plain HTTP are reached directly; a rule about a server takes precedence over the proxy of all"
    )
    func direct() async throws {
        let dead = EgressProxy(host: "127.0.0.1", port: 1)
        for target in ["self.example", ".example", "127.0.0.0/8", "127.0.0.1"] {
            let direct = EgressProxies(standard: dead, direct: [try #require(EgressTarget(target))])
            // By name a direct call asks the machine's resolver, which does not know it; by the address it comes through.
            let (failure, _, _) = try await call(direct, host: target.hasPrefix("127") ? "127.0.0.1" : "self.example")
            #expect(failure?.cause.contains("proxy") != true, "\(target)")
        }
        let (plain, server, _) = try await call(EgressProxies(standard: dead), host: "127.0.0.1", isPlain: true)
        #expect(plain == nil && server.hasPrefix("GET /api "))
        let proxy = try await TinyProxy()
        let rule = EgressProxies.Rule(targets: [try #require(EgressTarget(".example"))], proxy: EgressProxy(host: "127.0.0.1", port: proxy.port))
        let (failure, _, port) = try await call(EgressProxies(standard: dead, rules: [rule]))
        #expect(failure == nil && proxy.log.contains("CONNECT 127.0.0.1:\(port)"))
    }

    @Test("RFC 7617: the credentials of the settings open the proxy; without them, or with wrong ones, 407 is told as such, and no password")
    func credentials() async throws {
        let proxy = try await TinyProxy("BasicAuth ada lovelace1")
        func through(_ credentials: EgressProxy.Credentials?) async throws -> OutboundFailure? {
            try await call(EgressProxies(standard: EgressProxy(host: "127.0.0.1", port: proxy.port, credentials: credentials))).failure
        }
        #expect(try await through(.init(user: "ada", password: "lovelace1")) == nil)
        for wrong in [nil, EgressProxy.Credentials(user: "ada", password: "secret99")] {
            let failure = try #require(try await through(wrong))
            #expect(failure.kind == .notSent && failure.cause.contains(wrong == nil ? "407" : "answered 401"), "\(failure.cause)")
            #expect(failure.cause.contains("proxyCredentials"))
            #expect(!failure.cause.contains("secret99") && !"\(wrong as Any)".contains("secret99"))
        }
    }

    @Test("a proxy whose rules forbid the server, one that is not there, and one that does not answer have their own explanations")
    func explains() async throws {
        let proxy = try await TinyProxy("ConnectPort 443")
        let (refused, _, port) = try await call(EgressProxies(standard: EgressProxy(host: "127.0.0.1", port: proxy.port)))
        #expect(
            refused?.kind == .notSent && refused?.cause.contains("403") == true && refused?.cause.contains("127.0.0.1:\(port)") == true,
            "\(refused?.cause ?? "")")
        let dead = try await call(EgressProxies(standard: EgressProxy(host: "127.0.0.1", port: 1))).failure
        #expect(dead?.isUnsent == true && dead?.cause.contains("the proxy 127.0.0.1:1 cannot be reached") == true, "\(dead?.cause ?? "")")
        let silent = PlainServer(answer: [])
        let mute = try await silent.start()
        let late = try await call(EgressProxies(standard: EgressProxy(host: "127.0.0.1", port: mute)), connect: .milliseconds(300)).failure
        #expect(late?.kind == .connectTimeout && late?.cause.contains("the proxy 127.0.0.1:\(mute) opened no tunnel") == true, "\(late?.cause ?? "")")
        try await silent.stop()
    }

    @Test("targets are hosts, domains, addresses and networks; other texts are none")
    func targets() throws {
        let cases: [(String, String, String?, Bool)] = [
            ("a.example", "a.example", nil, true), ("a.example", "b.a.example", nil, false), (".example", "b.a.example", nil, true),
            (".example", "example", nil, true), (".example", "notexample", nil, false), ("A.Example", "a.example", nil, true),
            ("10.0.0.0/8", "10.9.8.7", nil, true), ("10.0.0.0/8", "11.0.0.1", nil, false), ("10.0.0.0/8", "x.example", "10.1.1.1", true),
            ("10.0.0.0/8", "x.example", nil, false), ("2001:db8::/32", "2001:db8::7", nil, true), ("192.0.2.1", "192.0.2.1", nil, true),
            ("10.0.0.0/8", "x.example", "::ffff:10.1.1.1", true), ("0.0.0.0/0", "192.0.2.9", nil, true),
        ]
        for (target, host, address, matches) in cases {
            #expect(
                try #require(EgressTarget(target)).matches(host: host, address: address.flatMap(EgressTarget.octets)) == matches, "\(target) \(host)")
        }
        for text in [
            "", ".", "*", "*.example", "a..example", "10.0.0.0/33", "10.0.0.0/8/8", "10.0.0.0/x", "a.example:443", "https://a.example", "a b",
        ] {
            #expect(EgressTarget(text) == nil, "\(text)")
        }
    }
}
