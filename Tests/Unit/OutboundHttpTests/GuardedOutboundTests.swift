import Cryptography
import NIOCore
import NIOPosix
import NIOSSL
@testable import OutboundHttp
import Synchronization
import Testing

/// Where requests to servers that a person named may go (bridge §14.3).
@Suite("Requests that stay out of the own network")
struct GuardedOutboundTests {
    /// Keeps what goes out.
    private final class Wire: OutboundTransport {
        private let sent = Mutex<[OutboundRoute]>([])
        private let failure: OutboundFailure?

        init(failing failure: OutboundFailure? = nil) { self.failure = failure }

        var pins: [OutboundRoute.Pin?] { sent.withLock { $0.map(\.pin) } }

        func send(_ request: OutboundRequest, by route: OutboundRoute, timeLeft: Duration) async throws(OutboundFailure) -> OutboundAnswer {
            sent.withLock { $0.append(route) }
            if let failure { throw failure }
            return OutboundAnswer(status: 200)
        }
    }

    private static let names = [
        "api.example": [["93.184.216.34"], ["10.0.0.1"]], "inside.example": [["10.1.2.3"]], "link.example": [["169.254.169.254"]],
        "cast.example": [["224.0.0.1"]], "self.example": [["127.0.0.1"]], "both.example": [["93.184.216.34", "192.168.0.1"]],
        "six.example": [["fe80::1"]], "10.1.2.3": [["10.1.2.3"]],
    ]

    private func kind(_ guarded: GuardedOutbound, _ url: String) async -> OutboundFailure.Kind? {
        let route = OutboundRoute(peer: "test", connectTimeout: .seconds(1), responseTimeout: .seconds(2), connections: 1)
        do throws(OutboundFailure) {
            _ = try await guarded.send(OutboundRequest(.get, url), by: route, timeLeft: .seconds(3))
            return nil
        } catch {
            return error.kind
        }
    }

    private func guarded(_ wire: any OutboundTransport, allowsPrivate: Bool = false) -> GuardedOutbound {
        GuardedOutbound(wire, names: DocumentFetchTests.Names(Self.names), allowsPrivate: allowsPrivate) { $0 == "localhost" || $0 == "127.0.0.1" }
    }

    @Test(
        "bridge B102: a name that leads to a private, link-local, multicast or loopback address is asked nowhere, with or without a good one beside it"
    )
    func refuses() async {
        let wire = Wire()
        for host in ["inside", "link", "cast", "self", "both", "six"] {
            #expect(await kind(guarded(wire), "https://\(host).example/api") == .refusedAddress, "\(host)")
        }
        #expect(await kind(guarded(wire), "https://10.1.2.3/api") == .refusedAddress)
        #expect(await kind(guarded(wire), "https://nobody.example/api") == .notSent)
        #expect(wire.pins.isEmpty)
    }

    @Test("bridge B102: the connection goes to the address that was checked, whatever the name means a moment later")
    func pins() async {
        let wire = Wire()
        let guarded = guarded(wire)
        for _ in 0..<3 { #expect(await kind(guarded, "https://API.example/api") == nil) }
        #expect(wire.pins == Array(repeating: OutboundRoute.Pin(host: "API.example", address: "93.184.216.34"), count: 3))
    }

    @Test("an address that cannot be reached is looked up again, and checked again")
    func looksAgain() async {
        let guarded = guarded(Wire(failing: OutboundFailure(.notSent)))
        #expect(await kind(guarded, "https://api.example/") == .notSent)
        #expect(await kind(guarded, "https://api.example/") == .refusedAddress)
    }

    @Test("bridge B102: hosts that are exempt go as they are written; with the setting every name may lead anywhere")
    func exempts() async {
        let wire = Wire()
        #expect(await kind(guarded(wire), "http://127.0.0.1:8092/api") == nil)
        #expect(await kind(guarded(wire), "http://LocalHost:8092/api") == nil)
        #expect(wire.pins == [nil, nil])
        #expect(await kind(guarded(wire, allowsPrivate: true), "https://inside.example/api") == nil)
        #expect(wire.pins.last == OutboundRoute.Pin(host: "inside.example", address: "10.1.2.3"))
    }

    @Test("bridge B102: the name stays the request's own where the connection goes to an address")
    func keepsNames() async throws {
        let server = PlainServer()
        let port = try await server.start()
        let http = OutboundHttp()
        let guarded = GuardedOutbound(http, names: DocumentFetchTests.Names(["self.example": [["127.0.0.1"]]]), allowsPrivate: true) { _ in false }
        #expect(await kind(guarded, "http://self.example:\(port)/api") == nil)
        #expect(server.text.lowercased().contains("host: self.example:\(port)"))
        await http.shutdown()
        try await server.stop()
    }

    @Test("bridge B102: a server with a certificate of its own making gets no byte of a request")
    func refusesSelfSigned() async throws {
        let server = PlainServer()
        let identity = try CertifiedKey.selfSigned(commonName: "self.example", key: .rsa(try RSAPrivateKey.generate(bits: 2048)))
        let port = try await server.start(identity)
        let http = OutboundHttp()
        let guarded = GuardedOutbound(http, names: DocumentFetchTests.Names(["self.example": [["127.0.0.1"]]]), allowsPrivate: true) { _ in false }
        let route = OutboundRoute(peer: "test", connectTimeout: .seconds(2), responseTimeout: .seconds(2), connections: 1)
        let request = OutboundRequest(.get, "https://self.example:\(port)/api", headers: [("Authorization", "Bearer secret")])
        await #expect(throws: OutboundFailure.self) { _ = try await guarded.send(request, by: route, timeLeft: .seconds(5)) }
        #expect(server.connections > 0, "it was asked")
        #expect(server.text.isEmpty)
        await http.shutdown()
        try await server.stop()
    }
}

/// Answers each request in the same way, and keeps what it was sent.
final class PlainServer: Sendable {
    private let answer: [UInt8]
    private let received = Mutex("")
    private let accepted = Mutex(0)
    private let channel = Mutex<(any Channel)?>(nil)

    /// - Parameter answer: A whole one of HTTP/1.1; empty: none.
    init(answer: [UInt8] = Array("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n".utf8)) { self.answer = answer }

    var text: String { received.withLock { $0 } }
    var connections: Int { accepted.withLock { $0 } }

    /// - Parameter identity: With it the server uses TLS.
    /// - Returns: Its port, on this machine.
    func start(_ identity: CertifiedKey? = nil) async throws -> Int {
        let tls = try identity.map { identity in
            let certificate = try NIOSSLCertificate(bytes: identity.certificate.der, format: .der)
            let key = try NIOSSLPrivateKey(bytes: Array(identity.key.pem().utf8), format: .pem)
            return try NIOSSLContext(
                configuration: .makeServerConfiguration(certificateChain: [.certificate(certificate)], privateKey: .privateKey(key)))
        }
        let bound = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    self.accepted.withLock { $0 += 1 }
                    if let tls { try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: tls)) }
                    try channel.pipeline.syncOperations.addHandler(Handler(server: self))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        channel.withLock { $0 = bound }
        return bound.localAddress?.port ?? 0
    }

    func stop() async throws { try await channel.withLock { $0 }?.close().get() }

    private final class Handler: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        typealias OutboundOut = ByteBuffer

        private let server: PlainServer

        init(server: PlainServer) { self.server = server }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            let text = String(buffer: unwrapInboundIn(data))
            server.received.withLock { $0 += text }
            guard text.hasSuffix("\r\n\r\n") else { return }
            context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: server.answer)), promise: nil)
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
    }
}
