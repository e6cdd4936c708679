import NIOCore
import NIOPosix
import Rpc
import Transport
import Frames

/// A peer that sends what a test tells it, right or wrong, and shows the frames that come back.
final class RawPeer: Sendable {
    let channel: any Channel
    private let frames: AsyncStream<Frame>

    private init(_ channel: any Channel, _ frames: AsyncStream<Frame>) {
        self.channel = channel
        self.frames = frames
    }

    /// Returns once the server's hello is in.
    static func connect(to address: RpcAddress, identity: TlsIdentity, expecting name: String) async throws -> RawPeer {
        let (frames, feed) = AsyncStream.makeStream(of: Frame.self)
        let greeted = MultiThreadedEventLoopGroup.singleton.next().makePromise(of: Void.self)
        let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .channelOption(.socketOption(.so_rcvbuf), value: 64 * 1024)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandlers(
                        TlsHandler(identity: identity, side: .client(expecting: name)), FrameCollector(feed: feed, greeted: greeted))
                }
            }
            .connect(host: address.host, port: address.port).get()
        try await greeted.futureResult.get()
        return RawPeer(channel, frames)
    }

    func send(bytes: [UInt8]) {
        channel.writeAndFlush(ByteBuffer(bytes: bytes), promise: nil)
    }

    func send(_ kinds: Frame.Kind...) throws {
        for kind in kinds { send(bytes: try FrameEncoder.encoded(Frame(kind: kind))) }
    }

    func sayHello() throws { try send(.hello(Self.hello)) }

    static var hello: Hello { Hello(protocolVersion: 1, software: "raw", maxFrameBytes: 1 << 20) }

    /// The next frame that is no hello and no ping; `nil` when the peer closed.
    func next() async -> Frame.Kind? {
        for await frame in frames {
            switch frame.kind {
            case .hello, .ping: continue
            default: return frame.kind
            }
        }
        return nil
    }

    /// The go-away with which the peer ends the connection.
    func farewell() async -> GoAway? {
        var last: GoAway?
        while let kind = await next() {
            if case .goAway(let goAway) = kind { last = goAway }
        }
        return last
    }

    func response() async -> Response? {
        while let kind = await next() {
            if case .response(let response) = kind { return response }
        }
        return nil
    }

    func stopReading() async throws { try await channel.setOption(.autoRead, value: false).get() }

    func close() { channel.close(promise: nil) }
}

/// Cuts the bytes into frames, without any limit.
final class FrameCollector: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let feed: AsyncStream<Frame>.Continuation
    private var greeted: EventLoopPromise<Void>?
    private var buffer = ByteBuffer()

    init(feed: AsyncStream<Frame>.Continuation, greeted: EventLoopPromise<Void>) {
        self.feed = feed
        self.greeted = greeted
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var bytes = unwrapInboundIn(data)
        buffer.writeBuffer(&bytes)
        while let frame = buffer.readLengthPrefixedSlice(as: UInt32.self) {
            if let frame = try? Frame(serialized: Array(frame.readableBytesView)) { feed.yield(frame) }
            greeted?.succeed()
            greeted = nil
        }
    }

    func channelInactive(context: ChannelHandlerContext) { end(ChannelError.eof) }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { end(error) }

    private func end(_ error: any Error) {
        feed.finish()
        greeted?.fail(error)
        greeted = nil
    }
}
