import TestIdentities
import NIOCore
import NIOPosix
import Rpc
import Synchronization
import Transport
import Frames

/// A server that greets like any other, and then fails its callers.
final class BreakingServer: Sendable {
    enum Behaviour: Sendable {
        /// Ends the connection at the first request.
        case breaking
        /// Sends nothing more, not even an answer to a ping.
        case silent
        /// Names another version of the wire in its hello.
        case speaking(version: UInt32)
        /// Says go-away in place of the hello.
        case refusing(GoAwayCode, String)
        /// Answers each request with these octets.
        case answering(@Sendable (Request) -> [UInt8])
    }

    let identities: TestIdentities
    let address: RpcAddress
    private let listener: any Channel
    private let requests: Requests

    final class Requests: Sendable {
        let count = Atomic<Int>(0)
    }

    var requestCount: Int { requests.count.load(ordering: .relaxed) }

    init(name: String, behaviour: Behaviour = .breaking) async throws {
        let identities = try TestIdentities()
        let identity = try identities.identity(name)
        let requests = Requests()
        listener = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandlers(
                        TlsHandler(identity: identity, side: .server), BreakingHandler(behaviour: behaviour, requests: requests))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        self.identities = identities
        self.requests = requests
        address = RpcAddress(host: "127.0.0.1", port: listener.localAddress?.port ?? 0)
    }

    deinit { listener.close(promise: nil) }
}

final class BreakingHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let behaviour: BreakingServer.Behaviour
    private let requests: BreakingServer.Requests
    private var buffer = ByteBuffer()

    init(behaviour: BreakingServer.Behaviour, requests: BreakingServer.Requests) {
        self.behaviour = behaviour
        self.requests = requests
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        guard event is TlsEvent, let bytes = try? FrameEncoder.encoded(Frame(kind: greeting)) else { return }
        context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: bytes)), promise: nil)
    }

    private var greeting: Frame.Kind {
        switch behaviour {
        case .breaking, .silent, .answering: hello(version: 1)
        case .speaking(let version): hello(version: version)
        case .refusing(let code, let message): .goAway(GoAway(code: code.rawValue, message: message))
        }
    }

    private func hello(version: UInt32) -> Frame.Kind {
        .hello(Hello(protocolVersion: version, software: "breaking", maxFrameBytes: 1 << 20, maxCallsInFlight: 100))
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var bytes = unwrapInboundIn(data)
        buffer.writeBuffer(&bytes)
        while let frame = buffer.readLengthPrefixedSlice(as: UInt32.self) {
            guard case .request(let request)? = (try? Frame(serialized: Array(frame.readableBytesView)))?.kind else { continue }
            requests.count.wrappingAdd(1, ordering: .relaxed)
            switch behaviour {
            case .breaking: context.close(promise: nil)
            case .answering(let answer): context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: answer(request))), promise: nil)
            default: break
            }
        }
    }
}
