internal import CommandKit
internal import LoadTool
internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix

/// Answers `GET /metrics` over HTTP/1.1, on a thread of its own.
final class MetricsListener: Sendable {
    /// The listener listens here.
    struct Place: Sendable, Equatable {
        let host: String
        let port: Int

        /// - Parameter text: `PORT` on loopback, or `HOST:PORT`.
        /// - Throws: `OptionRejection`.
        init(_ text: String) throws {
            let colon = text.lastIndex(of: ":")
            let (front, back) = (colon.map { text[..<$0] }, colon.map { text[text.index(after: $0)...] } ?? text[...])
            let host = front.map { $0.hasPrefix("[") && $0.hasSuffix("]") ? String($0.dropFirst().dropLast()) : String($0) } ?? "127.0.0.1"
            guard let port = Int(back), (1...65_535).contains(port), !host.isEmpty, !host.contains("/"), !host.contains("[") else {
                let advice = text.contains("://") ? "; Prometheus scrapes the tool, it pushes to nobody" : ""
                throw OptionRejection("--prometheus '\(text)'", "give a port such as 9400, or HOST:PORT\(advice)")
            }
            (self.host, self.port) = (host, port)
        }
    }

    private let group: MultiThreadedEventLoopGroup
    private let channel: any Channel

    private init(_ group: MultiThreadedEventLoopGroup, _ channel: any Channel) { (self.group, self.channel) = (group, channel) }

    /// - Parameter text: Asked for at each request.
    /// - Throws: `CommandFailure` when nobody can listen there.
    static func start(_ place: Place, text: @escaping @Sendable () -> String) async throws -> MetricsListener {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let bootstrap = ServerBootstrap(group: group)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(IdleStateHandler(allTimeout: .seconds(30)))
                    try channel.pipeline.syncOperations.configureHTTPServerPipeline(withErrorHandling: true)
                    try channel.pipeline.syncOperations.addHandler(MetricsHandler(text: text))
                }
            }
        do {
            return MetricsListener(group, try await bootstrap.bind(host: place.host, port: place.port).get())
        } catch {
            try? await group.shutdownGracefully()
            throw CommandFailure(
                "--prometheus cannot listen at \(place.host):\(place.port) (\(PlainReason.of(error)))", advice: "give another port", exit: .usage)
        }
    }

    func stop() async {
        try? await channel.close()
        try? await group.shutdownGracefully()
    }
}

/// One request on each connection.
private final class MetricsHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private let text: @Sendable () -> String
    private var head: HTTPRequestHead?

    init(text: @escaping @Sendable () -> String) { self.text = text }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head): self.head = head
        case .body: break
        case .end: answer(context)
        }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if event is IdleStateHandler.IdleStateEvent { return context.close(promise: nil) }
        context.fireUserInboundEventTriggered(event)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

    private func answer(_ context: ChannelHandlerContext) {
        guard let head else { return context.close(promise: nil) }
        self.head = nil
        let isThere = head.uri.prefix { $0 != "?" } == "/metrics"
        let isRead = [.GET, .HEAD].contains(head.method)
        let (status, content): (HTTPResponseStatus, String) =
            !isThere ? (.notFound, "only /metrics is here\n") : !isRead ? (.methodNotAllowed, "only GET is answered\n") : (.ok, text())
        var fields = HTTPHeaders([
            ("Content-Type", isThere && isRead ? "text/plain; version=0.0.4; charset=utf-8" : "text/plain; charset=utf-8"),
            ("Content-Length", "\(content.utf8.count)"), ("Connection", "close"),
        ])
        if status == .methodNotAllowed { fields.add(name: "Allow", value: "GET, HEAD") }
        context.write(wrapOutboundOut(.head(HTTPResponseHead(version: .http1_1, status: status, headers: fields))), promise: nil)
        if head.method != .HEAD { context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(string: content)))), promise: nil) }
        let channel = context.channel
        context.writeAndFlush(wrapOutboundOut(.end(nil))).whenComplete { _ in channel.close(promise: nil) }
    }
}
