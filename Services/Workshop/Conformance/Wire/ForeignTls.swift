internal import NIOCore
internal import NIOPosix
internal import NIOSSL
internal import Transport

/// TLS connections that a callee must refuse.
struct ForeignTls {
    var versions: ClosedRange<Int>
    /// Certificate and key to present; `nil`: none.
    var certificate: TlsFiles?

    /// - Returns: True when the callee sent anything inside TLS before it closed or broke off.
    func isServed(host: String, port: Int) async throws -> Bool {
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.minimumTLSVersion = Self.version(versions.lowerBound)
        configuration.maximumTLSVersion = Self.version(versions.upperBound)
        // The callee is examined, not this end.
        configuration.certificateVerification = .none
        if let certificate {
            configuration.certificateChain = try NIOSSLCertificate.fromPEMFile(certificate.certificate).map { .certificate($0) }
            configuration.privateKey = .privateKey(try NIOSSLPrivateKey(file: certificate.key, format: .pem))
        }
        let context = try NIOSSLContext(configuration: configuration)
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let outcome = loop.makePromise(of: Bool.self)
        let bootstrap = ClientBootstrap(group: loop).connectTimeout(.seconds(5)).channelInitializer { channel in
            channel.eventLoop.makeCompletedFuture {
                let tls = try NIOSSLClientHandler(context: context, serverHostname: nil)
                try channel.pipeline.syncOperations.addHandlers(tls, FirstWord(outcome: outcome))
            }
        }
        let channel: any Channel
        do {
            channel = try await bootstrap.connect(host: host, port: port).get()
        } catch {
            outcome.succeed(false)
            throw Unmet("a TCP connection", came: WireProbe.words(error))
        }
        let timer = loop.scheduleTask(in: .seconds(10)) { outcome.succeed(false) }
        let isServed = try await outcome.futureResult.get()
        timer.cancel()
        try? await channel.close().get()
        return isServed
    }

    private static func version(_ number: Int) -> TLSVersion { number == 13 ? .tlsv13 : .tlsv12 }
}

/// Finds out whether anything comes.
private final class FirstWord: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let outcome: EventLoopPromise<Bool>

    init(outcome: EventLoopPromise<Bool>) { self.outcome = outcome }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) { outcome.succeed(true) }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        outcome.succeed(false)
        context.close(promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) { outcome.succeed(false) }
}
