internal import Hummingbird
internal import HummingbirdCore
internal import NIOCore
internal import NIOHTTP1

typealias RequestPart = HTTPConnectionStateHandler.InboundIn
typealias ResponsePart = HTTPConnectionStateHandler.OutboundIn

/// Watches the requests of a connection, or the one of an HTTP/2 stream. It ends bodies that take too long, and does not read on after a refusal. It
/// tells a client that waits to send its body, and counts the unread parts of answers.
///
/// An answer of HTTP/1.1 comes whole, by `send`. The parts of one to an HTTP/2 stream pass through it, but for the content of one to HEAD.
final class RequestGuard: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = RequestPart
    typealias InboundOut = RequestPart
    typealias OutboundIn = ResponsePart
    typealias OutboundOut = ResponsePart

    /// The part of a body that is read on after its answer, in bytes; a client that still sends that much is cut off.
    static let surplus = 64 * 1024
    private static let farewell: TimeAmount = .seconds(1)
    /// A client may take this long to read an answer on a stream of HTTP/2; its connection ends then.
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
    /// The latest request is HEAD.
    private var isHead = false
    /// The client of the latest request sends its body when it is told to, and has sent nothing of it (RFC 9110 §10.1.1).
    private var isAwaited = false
    /// Octets of answers that are not sent yet.
    private var unsent = 0
    /// Octets of bodies whose requests are not answered yet.
    private var received = 0
    /// The answer on the stream was given up: there was no room for it.
    private var isGivenUp = false

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
        case .head(let head) where !isClosing:
            heads += 1
            isHead = head.method == .head
            isAwaited = head.headerFields.value(.expect)?.lowercased() == "100-continue"
            connection?.requestBegan()
        case .body(let bytes) where isClosing || answers == heads:
            unwanted += bytes.readableBytes
            if unwanted > Self.surplus { return context.close(promise: nil) }
        case .body(let bytes):
            isAwaited = false
            received += bytes.readableBytes
            connection?.receive(bytes.readableBytes)
        case .end where !isClosing:
            isAwaited = false
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
        // The one place where content of HTTP/2 leaves; HEAD has none (RFC 9110 §9.3.2).
        case .body where isHead && isStream: promise?.succeed()
        case .body(let bytes):
            guard !isStream || keep(bytes.readableBytes) else {
                promise?.fail(ChannelError.outputClosed)
                isGivenUp = true
                // The stream ends; its connection goes on.
                return context.close(promise: nil)
            }
            context.write(data, promise: promise)
        case .end where isGivenUp: promise?.fail(ChannelError.outputClosed)
        case .end:
            noteAnswer()
            let sent = promise ?? context.eventLoop.makePromise(of: Void.self)
            sent.futureResult.assumeIsolated().whenComplete { _ in
                self.unread?.cancel()
                self.unread = nil
                self.letGo(self.unsent)
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
        keepUnsent(context)
        if answer.connection == .close { sayFarewell(context) }
    }

    /// Tells a client that its body is wanted, if it waits for that, and the request is the only one without an answer.
    func sayContinue() {
        guard let context, isAwaited, answers == heads - 1, !isClosing else { return }
        isAwaited = false
        guard !isStream else { return context.writeAndFlush(wrapOutboundOut(.head(HTTPResponse(status: .continue))), promise: nil) }
        var bytes = context.channel.allocator.buffer(capacity: 32)
        bytes.writeStaticString("HTTP/1.1 100 Continue\r\n\r\n")
        context.writeAndFlush(NIOAny(bytes), promise: nil)
    }

    // MARK: Answers that nobody reads

    /// - Returns: False when the connection may hold no more.
    private func keep(_ octets: Int) -> Bool {
        guard let connection else { return true }
        guard connection.keep(octets) else { return false }
        unsent += octets
        return true
    }

    private func letGo(_ octets: Int) {
        unsent -= octets
        connection?.letGo(octets)
    }

    /// The part of an answer of HTTP/1.1 that the system did not take at once counts until it has.
    private func keepUnsent(_ context: ChannelHandlerContext) {
        guard self.context != nil, let buffered = try? context.channel.syncOptions?.getOption(.bufferedWritableBytes), buffered > unsent else {
            return
        }
        let octets = buffered - unsent
        // One answer at a time is all that a connection of HTTP/1.1 may hold.
        guard keep(octets) else { return }
        let sent = context.eventLoop.makePromise(of: Void.self)
        sent.futureResult.assumeIsolated().whenComplete { _ in if self.context != nil { self.letGo(octets) } }
        context.writeAndFlush(NIOAny(ByteBuffer()), promise: sent)
    }

    private func noteAnswer() {
        answers += 1
        unwanted = 0
        forgetReceived()
        connection?.requestEnded()
    }

    private func forgetReceived() {
        connection?.forget(received)
        received = 0
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
        letGo(unsent)
        forgetReceived()
        while isStream, answers < heads {
            answers += 1
            connection?.requestEnded()
        }
        connection = nil
        context = nil
    }
}
