internal import Hummingbird
internal import HummingbirdCore
internal import NIOCore
internal import NIOHTTP1

typealias RequestPart = HTTPConnectionStateHandler.InboundIn
typealias ResponsePart = HTTPConnectionStateHandler.OutboundIn

/// Watches the requests of a connection, or the one of an HTTP/2 stream: ends bodies that take too long, does not read on what was refused, and
/// answers heads that are too large.
///
/// An answer of HTTP/1.1 comes whole, by `send`; the parts of one to an HTTP/2 stream pass through it.
final class RequestGuard: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = RequestPart
    typealias InboundOut = RequestPart
    typealias OutboundIn = ResponsePart
    typealias OutboundOut = ResponsePart

    /// How much of a body is read on after its answer, in bytes; a client that still sends that much is cut off.
    static let surplus = 64 * 1024
    private static let farewell: TimeAmount = .seconds(1)
    /// How long a client may take to read an answer on a stream of HTTP/2; its connection ends then.
    private static let patience: TimeAmount = .seconds(30)

    private let isStream: Bool
    private let bodyTime: TimeAmount
    private var connection: ConnectionGuard?
    private var context: ChannelHandlerContext?
    private var timer: Scheduled<Void>?
    private var unread: Scheduled<Void>?
    /// Heads and ends of requests that came, and answers that went.
    private var heads = 0
    private var ends = 0
    private var answers = 0
    /// Body bytes that came after the answer.
    private var unwanted = 0
    /// The answer under way is the last one.
    private var isLast = false
    /// Nothing more is handed on.
    private var isClosing = false

    /// - Parameters:
    ///   - isStream: True for a stream of HTTP/2.
    ///   - bodyTime: The longest that a body may take.
    init(isStream: Bool, bodyTime: Duration) {
        self.isStream = isStream
        self.bodyTime = TimeAmount(bodyTime)
    }

    /// Each request that began has come to its end.
    var hasWholeRequests: Bool { heads == ends }

    /// Each request has been answered, and the next one may come.
    var isIdle: Bool { heads == ends && answers == heads && !isClosing }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        let pipeline = isStream ? context.channel.parent?.pipeline : context.pipeline
        connection = try? pipeline?.syncOperations.handler(type: ConnectionGuard.self)
    }

    func handlerRemoved(context: ChannelHandlerContext) { leave() }

    func channelInactive(context: ChannelHandlerContext) {
        leave()
        context.fireChannelInactive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head where !isClosing:
            heads += 1
            connection?.requestBegan()
        case .body(let bytes) where isClosing || answers == heads:
            unwanted += bytes.readableBytes
            if unwanted > Self.surplus { return context.close(promise: nil) }
        case .end where !isClosing:
            ends += 1
            timer?.cancel()
            timer = nil
        default: break
        }
        if !isClosing { context.fireChannelRead(data) }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        if heads > ends, timer == nil, !isClosing { closeLater(context, bodyTime) }
        context.fireChannelReadComplete()
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        switch unwrapOutboundIn(data) {
        case .head(var response):
            isLast = response.headerFields[.connection] == "close"
            // HTTP/2 has no such field (RFC 9113 §8.2.2).
            response.headerFields[.connection] = nil
            awaitReader(context)
            context.write(wrapOutboundOut(.head(response)), promise: promise)
        case .body: context.write(data, promise: promise)
        case .end:
            noteAnswer()
            let sent = promise ?? context.eventLoop.makePromise(of: Void.self)
            sent.futureResult.assumeIsolated().whenComplete { _ in
                self.unread?.cancel()
                self.unread = nil
            }
            guard isLast else { return context.write(data, promise: sent) }
            context.writeAndFlush(data, promise: sent)
            sayFarewell(context)
        }
    }

    /// A client that opens streams and reads none of their answers holds them in our memory.
    private func awaitReader(_ context: ChannelHandlerContext) {
        guard isStream, unread == nil else { return }
        unread = context.eventLoop.assumeIsolated().scheduleTask(in: Self.patience) {
            (context.channel.parent ?? context.channel).close(promise: nil)
        }
    }

    /// Sends a whole answer of HTTP/1.1.
    func send(_ answer: Http1Answer) {
        guard let context else { return }
        noteAnswer()
        answer.write(to: context)
        if answer.connection == .close { sayFarewell(context) }
    }

    private func noteAnswer() {
        answers += 1
        unwanted = 0
        connection?.requestEnded()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard !isStream, case .headerOverflow? = error as? HTTPParserError, answers == heads else { return context.fireErrorCaught(error) }
        Http1Answer(status: .requestHeaderFieldsTooLarge, connection: .close).write(to: context)
        sayFarewell(context)
    }

    /// Closes the way out and gives the client a moment to read the answer: closing at once could destroy it on the way.
    private func sayFarewell(_ context: ChannelHandlerContext) {
        isClosing = true
        timer?.cancel()
        timer = nil
        if isStream {
            if heads > ends { closeLater(context, Self.farewell) }
        } else {
            closeOutput()
        }
    }

    /// Closes the way out of a connection of HTTP/1.1 once everything is sent. The channel itself waits for that only while its input is open.
    func closeOutput() {
        guard let context else { return }
        let sent = context.eventLoop.makePromise(of: Void.self)
        sent.futureResult.assumeIsolated().whenComplete { _ in self.context?.close(mode: .output, promise: nil) }
        context.writeAndFlush(NIOAny(ByteBuffer()), promise: sent)
    }

    private func closeLater(_ context: ChannelHandlerContext, _ time: TimeAmount) {
        timer = context.eventLoop.assumeIsolated().scheduleTask(in: time) { context.close(promise: nil) }
    }

    private func leave() {
        timer?.cancel()
        timer = nil
        unread?.cancel()
        unread = nil
        while isStream, answers < heads {
            answers += 1
            connection?.requestEnded()
        }
        connection = nil
        context = nil
    }
}
