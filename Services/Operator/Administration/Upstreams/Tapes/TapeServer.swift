internal import CommandKit
internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix
internal import Synchronization

/// An HTTP server on this machine's own address that answers each call from what it is given; a connection ends with its answer.
final class TapeServer: Sendable {
    typealias Responder = @Sendable (TapeCall) async -> TapeAnswer

    private static let host = "127.0.0.1"
    private static let largestBody = 256 * 1024

    private let group: MultiThreadedEventLoopGroup
    private let channel: any Channel

    private init(_ group: MultiThreadedEventLoopGroup, _ channel: any Channel) { (self.group, self.channel) = (group, channel) }

    /// Origin.
    var address: String { "http://\(Self.host):\(channel.localAddress?.port ?? 0)" }

    /// - Parameter port: 0: one that is free.
    /// - Throws: `CommandFailure` when nobody can listen there.
    static func start(port: Int, _ respond: @escaping Responder) async throws -> TapeServer {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let load = TapeLoad()
        let bootstrap = ServerBootstrap(group: group)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(IdleStateHandler(allTimeout: .seconds(90)))
                    try channel.pipeline.syncOperations.configureHTTPServerPipeline(withPipeliningAssistance: false, withErrorHandling: true)
                    try channel.pipeline.syncOperations.addHandlers(
                        NIOHTTPServerRequestAggregator(maxContentLength: largestBody), TapeHandler(respond, load))
                }
            }
        do {
            return TapeServer(group, try await bootstrap.bind(host: host, port: port).get())
        } catch {
            try? await group.shutdownGracefully()
            throw CommandFailure("cannot listen at \(host):\(port) (\(PlainReason.of(error)))", advice: "give another --port", exit: .usage)
        }
    }

    func stop() async {
        try? await channel.close()
        try? await group.shutdownGracefully()
    }
}

/// How many calls are answered now.
private final class TapeLoad: Sendable {
    private static let most = 64
    private let count = Atomic(0)

    func begin() -> Bool {
        if count.add(1, ordering: .relaxed).oldValue < Self.most { return true }
        end()
        return false
    }

    func end() { count.subtract(1, ordering: .relaxed) }
}

/// One request on each connection.
private final class TapeHandler: ChannelInboundHandler {
    typealias InboundIn = NIOHTTPServerRequestFull
    typealias OutboundOut = HTTPServerResponsePart

    private let respond: TapeServer.Responder
    private let load: TapeLoad
    private var isAnswering = false

    init(_ respond: @escaping TapeServer.Responder, _ load: TapeLoad) { (self.respond, self.load) = (respond, load) }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let request = unwrapInboundIn(data)
        guard !isAnswering else { return context.close(promise: nil) }
        isAnswering = true
        let call = TapeCall(
            method: request.head.method.rawValue, uri: request.head.uri, headers: request.head.headers.map { ($0.name, $0.value) },
            body: request.body.map { Array($0.readableBytesView) } ?? [])
        Self.answer(call, by: respond, load, on: context.channel)
    }

    private static func answer(_ call: TapeCall, by respond: @escaping TapeServer.Responder, _ load: TapeLoad, on channel: any Channel) {
        guard load.begin() else { return send(.problem(503, "service_unavailable", "too many calls at once"), on: channel) }
        Task {
            let answer = await respond(call)
            load.end()
            send(answer, on: channel)
        }
    }

    private static func send(_ answer: TapeAnswer, on channel: any Channel) {
        var headers = HTTPHeaders(answer.headers.map { ($0.name, $0.value) })
        if answer.status != 204 { headers.replaceOrAdd(name: "Content-Length", value: "\(answer.body.count)") }
        headers.replaceOrAdd(name: "Connection", value: "close")
        let head = HTTPResponseHead(version: .http1_1, status: HTTPResponseStatus(statusCode: answer.status), headers: headers)
        channel.write(HTTPServerResponsePart.head(head), promise: nil)
        if !answer.body.isEmpty { channel.write(HTTPServerResponsePart.body(.byteBuffer(ByteBuffer(bytes: answer.body))), promise: nil) }
        channel.writeAndFlush(HTTPServerResponsePart.end(nil)).whenComplete { _ in channel.close(promise: nil) }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if event is IdleStateHandler.IdleStateEvent { return context.close(promise: nil) }
        context.fireUserInboundEventTriggered(event)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}
