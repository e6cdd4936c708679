import NIOCore
import NIOPosix
import Synchronization

/// A server that sends back what it gets, and a connection to it.
final class EchoServer: Sendable {
    private let channel: any Channel

    init() async throws {
        channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelOption(.allowRemoteHalfClosure, value: true)
            .childChannelInitializer { $0.pipeline.addHandler(EchoHandler()) }
            .bind(host: "127.0.0.1", port: 0).get()
    }

    var port: Int { channel.localAddress?.port ?? 0 }

    func stop() async throws { try await channel.close() }
}

private final class EchoHandler: ChannelInboundHandler, Sendable {
    typealias InboundIn = ByteBuffer

    func channelRead(context: ChannelHandlerContext, data: NIOAny) { context.writeAndFlush(data, promise: nil) }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case .inputClosed? = event as? ChannelEvent { context.close(mode: .output, promise: nil) }
    }
}

/// The octets that a client of the proxy has got back.
final class Conversation: Sendable {
    private struct State {
        var received: [UInt8] = []
        var isClosed = false
    }

    private let state = Mutex(State())
    private let channel = Mutex<(any Channel)?>(nil)

    static func open(port: Int) async throws -> Conversation {
        let conversation = Conversation()
        let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .channelInitializer { $0.pipeline.addHandler(Collector(conversation)) }
            .connect(host: "127.0.0.1", port: port).get()
        conversation.channel.withLock { $0 = channel }
        return conversation
    }

    var received: [UInt8] { state.withLock { $0.received } }
    var isClosed: Bool { state.withLock { $0.isClosed } }

    func send(_ bytes: [UInt8]) async throws {
        guard let channel = channel.withLock({ $0 }) else { return }
        try await channel.writeAndFlush(ByteBuffer(bytes: bytes))
    }

    func close() async { try? await channel.withLock { $0 }?.close() }

    fileprivate func take(_ bytes: [UInt8]) { state.withLock { $0.received += bytes } }

    fileprivate func end() { state.withLock { $0.isClosed = true } }
}

private final class Collector: ChannelInboundHandler, Sendable {
    typealias InboundIn = ByteBuffer
    private let conversation: Conversation

    init(_ conversation: Conversation) { self.conversation = conversation }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) { conversation.take(Array(unwrapInboundIn(data).readableBytesView)) }

    func channelInactive(context: ChannelHandlerContext) { conversation.end() }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}
