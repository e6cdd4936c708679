import ContractRuntime
import NIOCore
import NIOPosix
import Transport
@testable import Frames

/// How a mutant differs from the service behind it.
struct Mutation: Sendable, CustomStringConvertible {
    let description: String
    /// For each frame of the service, what the caller gets.
    var answers: @Sendable (Frame) -> [Frame] = { [$0] }
    /// For each frame of the caller, what the service gets.
    var requests: @Sendable (Frame) -> [Frame] = { [$0] }
    /// The caller's connection stays when the service ends its own.
    var staysOpen = false
    /// The requirements that must fail.
    let breaks: [String]
}

/// Stands between a caller and a good service, decodes both directions and applies a mutation. Bytes that are no frame pass unchanged.
final class MutantProxy: Sendable {
    private let listener: any Channel
    let port: Int

    init(as identity: TlsIdentity, calling caller: TlsIdentity, service: String, port: Int, mutation: Mutation) async throws {
        let bootstrap = ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let front = MutantEnd(transform: mutation.requests, staysOpen: false)
                    try channel.pipeline.syncOperations.addHandlers(try TlsHandler(identity: identity, side: .server), front)
                    let back = MutantEnd(transform: mutation.answers, staysOpen: mutation.staysOpen)
                    let boxes = (NIOLoopBound(front, eventLoop: channel.eventLoop), NIOLoopBound(back, eventLoop: channel.eventLoop))
                    ClientBootstrap(group: channel.eventLoop).channelInitializer { upstream in
                        upstream.eventLoop.makeCompletedFuture {
                            let tls = try TlsHandler(identity: caller, side: .client(expecting: service))
                            try upstream.pipeline.syncOperations.addHandlers(tls, boxes.1.value)
                        }
                    }.connect(host: "127.0.0.1", port: port).whenSuccess { upstream in
                        boxes.0.value.pass(to: upstream)
                        boxes.1.value.pass(to: channel)
                    }
                }
            }
        listener = try await bootstrap.bind(host: "127.0.0.1", port: 0).get()
        self.port = listener.localAddress?.port ?? 0
    }

    func close() async { try? await listener.close().get() }
}

/// One end of a connection of the proxy.
private final class MutantEnd: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let transform: @Sendable (Frame) -> [Frame]
    private let staysOpen: Bool
    private var inbox = ByteBuffer()
    private var other: (any Channel)?
    private var isOver = false

    init(transform: @escaping @Sendable (Frame) -> [Frame], staysOpen: Bool) {
        self.transform = transform
        self.staysOpen = staysOpen
    }

    func pass(to channel: any Channel) {
        other = channel
        deliver()
        if isOver, !staysOpen { channel.close(promise: nil) }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var bytes = unwrapInboundIn(data)
        inbox.writeBuffer(&bytes)
        deliver()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

    func channelInactive(context: ChannelHandlerContext) {
        isOver = true
        if !staysOpen { other?.close(promise: nil) }
    }

    private func deliver() {
        guard let other else { return }
        while let length = inbox.getInteger(at: inbox.readerIndex, as: UInt32.self), length > 0, inbox.readableBytes >= 4 + Int(length) {
            var whole = inbox.readSlice(length: 4 + Int(length)) ?? ByteBuffer()
            let body = whole.getBytes(at: whole.readerIndex + 4, length: Int(length)) ?? []
            guard let frame = try? Frame(serialized: body), frame.kind != nil else {
                other.writeAndFlush(whole, promise: nil)
                continue
            }
            let made = transform(frame)
            if made == [frame] {
                other.writeAndFlush(whole, promise: nil)
                continue
            }
            whole.clear()
            for frame in made {
                guard let bytes = try? frame.serialized() else { continue }
                whole.writeInteger(UInt32(bytes.count))
                whole.writeBytes(bytes)
            }
            other.writeAndFlush(whole, promise: nil)
        }
        // The beginning of a frame that may never be finished has to be judged too.
        guard inbox.readableBytes >= 4, let length = inbox.getInteger(at: inbox.readerIndex, as: UInt32.self), length == 0 || length > 4_000_000
        else { return }
        let rest = inbox
        inbox.clear()
        other.writeAndFlush(rest, promise: nil)
    }
}
