internal import Cryptography
internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix
internal import NIOSSL

/// An HTTPS server on this machine for the few requests that a service makes at an OAuth provider. It closes each connection after its answer.
struct ProviderServer: Sendable {
    struct Request: Sendable {
        let method: String
        /// Without the query.
        let path: String
        /// The header `Authorization`; empty: none.
        let authorization: String
        let body: String
    }

    struct Answer: Sendable {
        var status = 200
        let json: String
    }

    private static let host = "127.0.0.1"
    private static let largestBody = 64 * 1024

    /// `https://127.0.0.1:port`
    let address: String
    /// DER; a client that trusts it trusts the server.
    let authority: [UInt8]
    private let channel: any Channel

    /// Listens on a port that is free.
    static func start(_ answer: @escaping @Sendable (Request) -> Answer) async throws -> ProviderServer {
        let authority = try CertificateAuthority.create(name: "Conformance provider")
        let pair = try authority.issue(commonName: host, names: CertificateNames(addresses: [host]))
        let configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: [.certificate(try NIOSSLCertificate(bytes: Array(pair.certificate.pem().utf8), format: .pem))],
            privateKey: .privateKey(try NIOSSLPrivateKey(bytes: Array(pair.key.pem().utf8), format: .pem)))
        let context = try NIOSSLContext(configuration: configuration)
        let bootstrap = ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: context))
                    try channel.pipeline.syncOperations.configureHTTPServerPipeline(withPipeliningAssistance: false)
                    try channel.pipeline.syncOperations.addHandlers(
                        NIOHTTPServerRequestAggregator(maxContentLength: largestBody), ProviderHandler(answer))
                }
            }
        let channel = try await bootstrap.bind(host: host, port: 0).get()
        return ProviderServer(
            address: "https://\(host):\(channel.localAddress?.port ?? 0)", authority: authority.certificate.der, channel: channel)
    }

    func stop() async { try? await channel.close().get() }
}

private final class ProviderHandler: ChannelInboundHandler {
    typealias InboundIn = NIOHTTPServerRequestFull
    typealias OutboundOut = HTTPServerResponsePart

    private let answer: @Sendable (ProviderServer.Request) -> ProviderServer.Answer

    init(_ answer: @escaping @Sendable (ProviderServer.Request) -> ProviderServer.Answer) { self.answer = answer }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let request = unwrapInboundIn(data)
        let path = request.head.uri.prefix { $0 != "?" }
        let body = request.body.map { String(buffer: $0) } ?? ""
        let answer = answer(
            ProviderServer.Request(
                method: request.head.method.rawValue, path: String(path), authorization: request.head.headers.first(name: "authorization") ?? "",
                body: body))
        let content = ByteBuffer(string: answer.json)
        let headers: HTTPHeaders = [
            "content-type": "application/json", "content-length": "\(content.readableBytes)", "cache-control": "no-store", "connection": "close",
        ]
        let head = HTTPResponseHead(version: .http1_1, status: HTTPResponseStatus(statusCode: answer.status), headers: headers)
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        context.write(wrapOutboundOut(.body(.byteBuffer(content))), promise: nil)
        let channel = context.channel
        context.writeAndFlush(wrapOutboundOut(.end(nil))).whenComplete { _ in channel.close(promise: nil) }
    }

    /// A connection that the service breaks off is not an error here: other checks show what the service did with the answer.
    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}
