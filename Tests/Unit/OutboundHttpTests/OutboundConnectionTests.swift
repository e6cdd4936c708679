import Cryptography
import Hummingbird
import HummingbirdHTTP2
import NIOCore
import NIOSSL
import Testing

@testable import OutboundHttp

/// What a route asks of its connections.
@Suite("Connections of a route", .timeLimit(.minutes(1)))
struct OutboundConnectionTests {
    private let identity: CertifiedKey
    private let anchors: [[UInt8]]

    init() throws {
        let authority = try CertificateAuthority.create(name: "Test")
        identity = try authority.issue(commonName: "localhost", names: CertificateNames(dns: ["localhost"]))
        anchors = [authority.certificate.der]
    }

    private func route(_ version: OutboundRoute.Version = .http1, age: Duration? = nil, connections: Int = 8) -> OutboundRoute {
        OutboundRoute(
            peer: "test", trustAnchors: anchors, connectTimeout: .seconds(10), responseTimeout: .seconds(10), connections: connections,
            version: version, connectionAge: age)
    }

    /// Answers how a request came, and from which port.
    private struct Context: RequestContext {
        var coreContext: CoreRequestContextStorage
        let came: String

        init(source: ApplicationRequestContextSource) {
            coreContext = CoreRequestContextStorage(source: source)
            // A stream's channel lies below that of its connection, which lies below the listener's.
            let connection = source.channel.parent.flatMap { $0.parent == nil ? nil : $0 }
            came = "\(connection == nil ? "h1" : "h2") \((connection ?? source.channel).remoteAddress?.port ?? 0)"
        }
    }

    private func withHttp2Server<Value: Sendable>(_ body: @escaping @Sendable (_ url: String) async throws -> Value) async throws -> Value {
        let certificate = try NIOSSLCertificate(bytes: identity.certificate.der, format: .der)
        let key = try NIOSSLPrivateKey(bytes: Array(identity.key.pem().utf8), format: .pem)
        let router = Router(context: Context.self)
        router.get("/") { _, context in context.came }
        router.get("/slow") { _, context in
            try await Task.sleep(for: .milliseconds(1500))
            return context.came
        }
        let (ports, port) = AsyncStream<Int>.makeStream()
        let application = Application(
            router: router,
            server: try .http2Upgrade(
                tlsConfiguration: .makeServerConfiguration(certificateChain: [.certificate(certificate)], privateKey: .privateKey(key))),
            configuration: .init(address: .hostname("127.0.0.1", port: 0)),
            onServerRunning: { channel in port.yield(channel.localAddress?.port ?? 0) })
        let serving = Task { try await application.run() }
        defer { serving.cancel() }
        let bound = try #require(await ports.first { _ in true })
        return try await body("https://localhost:\(bound)")
    }

    private static func text(_ url: String, by route: OutboundRoute, _ http: OutboundHttp) async throws -> String {
        String(decoding: try await http.send(OutboundRequest(.get, url), by: route, timeLeft: .seconds(20)).body, as: UTF8.self)
    }

    @Test("calls of a route of HTTP/2 share one connection, those of HTTP/1.1 use one for each call under way")
    func sharesOne() async throws {
        let (http, second, first) = (OutboundHttp(), route(.http2), route(.http1))
        let came = try await withHttp2Server { url in
            var all: [OutboundRoute: Set<String>] = [:]
            for route in [first, second] {
                // A connection is there before many calls come at once.
                _ = try await Self.text(url + "/", by: route, http)
                all[route] = try await withThrowingTaskGroup { group in
                    for _ in 0..<4 { group.addTask { try await Self.text(url + "/slow", by: route, http) } }
                    return try await group.reduce(into: []) { $0.insert($1) }
                }
            }
            return all
        }
        #expect(came[second]?.count == 1 && came[second]?.first?.hasPrefix("h2 ") == true, "\(came)")
        #expect(came[first]?.count == 4 && came[first]?.allSatisfy { $0.hasPrefix("h1 ") } == true, "\(came)")
        await http.shutdown()
    }

    @Test("bridge §3.1: a route of HTTP/2 falls back where the server does not agree, and where there is no TLS", arguments: [true, false])
    func fallsBack(hasTls: Bool) async throws {
        let (http, server) = (OutboundHttp(), PlainServer())
        let port = try await server.start(hasTls ? identity : nil)
        let answer = try await http.send(
            OutboundRequest(.get, "\(hasTls ? "https" : "http")://localhost:\(port)/api"), by: route(.http2), timeLeft: .seconds(20))
        #expect(answer.status == 200)
        #expect(server.text.hasPrefix("GET /api HTTP/1.1\r\n"), "\(server.text)")
        await http.shutdown()
        try await server.stop()
    }

    @Test("bridge §3.1: a connection takes no call once it is too old, and a call under way keeps its own", .tags(.timing))
    func ages() async throws {
        let (http, aging) = (OutboundHttp(), route(age: .seconds(1), connections: 1))
        try await withHttp2Server { url in
            let first = try await Self.text(url + "/", by: aging, http)
            #expect(try await Self.text(url + "/", by: aging, http) == first)
            async let slow = Self.text(url + "/slow", by: aging, http)
            // Older than the route's age, while the slow call is under way.
            try await Task.sleep(for: .milliseconds(1100))
            let next = try await Self.text(url + "/", by: aging, http)
            #expect(next != first)
            #expect(try await slow == first, "the call under way kept its connection")
        }
        await http.shutdown()
    }
}
