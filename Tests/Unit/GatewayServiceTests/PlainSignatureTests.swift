internal import Contracts
@testable import GatewayEdge
internal import Hummingbird
internal import HummingbirdCore
internal import Logging
internal import NIOCore
internal import NIOEmbedded
internal import Testing

/// Signed requests that others can read on their way (clients §2): whoever reads one has a key to its application for a while. The gateway tells the service that
/// checks them, which takes them from strict pairs alone (`SignedRequestTests`).
@Suite("Signed requests over plain HTTP") struct PlainSignatureTests {
    private typealias Way = (peer: String, isSecure: Bool, setting: GatewaySettings.SignedPlainHTTP, isReadable: Bool)

    private static let ways: [Way] = [
        ("203.0.113.9", false, .strict, true), ("2001:db8::9", false, .strict, true), ("10.0.0.7", false, .strict, true),
        ("203.0.113.9", true, .strict, false), ("203.0.113.9", false, .all, false), ("203.0.113.9", true, .all, false),
        // This host, and the proxy of ours that ends TLS.
        ("127.0.0.1", false, .strict, false), ("127.8.8.8", false, .strict, false), ("::1", false, .strict, false),
        ("198.51.100.7", false, .strict, false), ("198.51.100.8", false, .strict, true),
    ]

    @Test(
        "clients #25: a signature that came over plain HTTP from another machine is told as one that others can read, unless the setting takes all",
        arguments: ways.indices)
    func isTold(_ index: Int) async throws {
        let way = Self.ways[index]
        let gateway = TestGateway(trusted: ["198.51.100.7"], signedPlainHTTP: way.setting)
        let channel = NIOAsyncTestingChannel()
        try await channel.connect(to: SocketAddress(ipAddress: way.peer, port: 4711))
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let files = way.isSecure ? try CertificateFiles() : nil
        defer { files?.remove() }
        let certificate = try files.map { try HttpsCertificate(certificateFile: $0.certificate, keyFile: $0.key) }
        let edge = Gateway(WholeApi(try gateway.dependencies())).listener(
            at: .everybody, certificate: certificate, logger: logger, quiet: logger
        ).edge
        var head = HTTPRequest(method: .get, scheme: "http", authority: "tv.example", path: "/api/v1/checkauthn?requestor=ACME1&deviceId=tv-1")
        head.headerFields[.authorization] =
            "GET requestor_id=ACME1, nonce=1, signature_method=HMAC-SHA1, request_time=1, request_uri=/authn, public_key=k, signature=s"
        let context = GatewayContext(source: ApplicationRequestContextSource(channel: channel, logger: logger))
        let response = await edge.respond(to: Request(head: head, body: RequestBody(buffer: ByteBuffer())), context: context)
        #expect(response.status == .ok)
        let told = gateway.authentication.getSession.requests.map { $0.call?.signedRequest?.isPlain }
        #expect(told == [way.isReadable], "\(way)")
    }
}
