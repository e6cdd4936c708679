import Cryptography
import Glibc
import NIOCore
import NIOPosix
import NIOSSL
import Synchronization

/// A decision point over plain TCP that does what no well-meaning server does.
final class MisbehavingServer: Sendable {
    enum Manner: Sendable {
        /// Answers with this text, byte for byte.
        case answer(String)
        /// Answers with this text and ends the connection in an orderly way.
        case answerAndClose(String)
        /// Reads the request and sends nothing.
        case hang
        /// Resets the connection when the request arrives.
        case reset
    }

    /// Its manner for the first request, the second, and so on; the last one counts for all further.
    private let manners: [Manner]
    private let requests = Mutex(0)
    private let channel = Mutex<(any Channel)?>(nil)

    init(_ manners: Manner...) { self.manners = manners }

    /// Requests that arrived.
    var requestCount: Int { requests.withLock { $0 } }

    /// - Parameters:
    ///   - identity: With it the server uses TLS.
    ///   - clients: The authority that must have issued the callers' certificates; nil: callers need none.
    /// - Returns: Where it listens.
    func start(identity: CertifiedKey? = nil, clients: Certificate? = nil) async throws -> String {
        let tls = try identity.map { try Self.tls($0, clients) }
        let bootstrap = ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    // Closing without lingering resets the connection.
                    _ = (channel as? any SocketOptionProvider)?.setSoLinger(linger(l_onoff: 1, l_linger: 0))
                    if let tls { try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: tls)) }
                    try channel.pipeline.syncOperations.addHandler(Handler(server: self))
                }
            }
        let bound = try await bootstrap.bind(host: "127.0.0.1", port: 0).get()
        channel.withLock { $0 = bound }
        return "\(tls == nil ? "http" : "https")://127.0.0.1:\(bound.localAddress?.port ?? 0)/authz"
    }

    private static func tls(_ identity: CertifiedKey, _ clients: Certificate?) throws -> NIOSSLContext {
        let certificate = try NIOSSLCertificate(bytes: identity.certificate.der, format: .der)
        let key = try NIOSSLPrivateKey(bytes: Array(identity.key.pem().utf8), format: .pem)
        var configuration = TLSConfiguration.makeServerConfiguration(certificateChain: [.certificate(certificate)], privateKey: .privateKey(key))
        if let clients {
            configuration.certificateVerification = .noHostnameVerification
            configuration.trustRoots = .certificates([try NIOSSLCertificate(bytes: clients.der, format: .der)])
        }
        return try NIOSSLContext(configuration: configuration)
    }

    func stop() async throws {
        try await channel.withLock { $0 }?.close().get()
    }

    private func nextManner() -> Manner {
        let number = requests.withLock { count in
            count += 1
            return count
        }
        return manners[min(number, manners.count) - 1]
    }

    private final class Handler: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        typealias OutboundOut = ByteBuffer

        private let server: MisbehavingServer
        private var request = ""

        init(server: MisbehavingServer) { self.server = server }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            request += String(buffer: unwrapInboundIn(data))
            // The body of a decision request ends with these.
            guard request.hasSuffix("]}}") else { return }
            request = ""
            switch server.nextManner() {
            case .hang: break
            case .reset: context.close(promise: nil)
            case .answerAndClose(let text):
                _ = (context.channel as? any SocketOptionProvider)?.setSoLinger(linger(l_onoff: 0, l_linger: 0))
                let channel = context.channel
                context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: text))).whenComplete { _ in channel.close(promise: nil) }
            case .answer(let text): context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: text)), promise: nil)
            }
        }
    }

    /// A whole HTTP answer.
    static func http(_ body: String, status: String = "200 OK") -> Manner {
        .answer("HTTP/1.1 \(status)\r\ncontent-type: application/xacml+json\r\ncontent-length: \(body.utf8.count)\r\n\r\n\(body)")
    }
}
