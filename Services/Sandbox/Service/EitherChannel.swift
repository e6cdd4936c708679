internal import SandboxKit
internal import HummingbirdCore
internal import Logging
internal import NIOCore
internal import NIOSSL

/// Serves plain HTTP and HTTPS at one address: the first octet of a connection tells which it is (RFC 8446 §5.1). Programs that send no password in
/// the clear put `https` before any address that they are given.
struct EitherChannel: ServerChildChannel {
    private let plain: HTTP1Channel
    private let tls: ServedCertificate

    init(responder: @escaping HTTPChannelHandler.Responder, configuration: HTTP1Channel.Configuration = .init(), tls: ServedCertificate) {
        plain = HTTP1Channel(responder: responder, configuration: configuration)
        self.tls = tls
    }

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<HTTP1Channel.Value> {
        do {
            try channel.pipeline.syncOperations.addHandler(FirstOctet(tls: tls.context))
        } catch {
            return channel.eventLoop.makeFailedFuture(error)
        }
        return plain.setup(channel: channel, logger: logger)
    }

    func handle(value: HTTP1Channel.Value, logger: Logger) async { await plain.handle(value: value, logger: logger) }
}

/// Inserts TLS before all other handlers if the connection begins with a handshake, then removes itself.
private final class FirstOctet: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    /// Content type of a handshake.
    private static let handshake: UInt8 = 22
    private let tls: NIOSSLContext

    init(tls: NIOSSLContext) { self.tls = tls }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let buffer = unwrapInboundIn(data)
        let pipeline = context.pipeline.syncOperations
        if buffer.getInteger(at: buffer.readerIndex) == Self.handshake {
            do { try pipeline.addHandler(NIOSSLServerHandler(context: tls), position: .after(self)) } catch { return context.close(promise: nil) }
        }
        context.fireChannelRead(data)
        pipeline.removeHandler(context: context, promise: nil)
    }
}
