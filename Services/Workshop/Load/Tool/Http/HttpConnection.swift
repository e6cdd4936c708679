internal import NIOCore

/// One connection with at most one call in flight.
///
/// `@unchecked Sendable`: touched on its event loop only.
final class HttpConnection: ChannelInboundHandler, @unchecked Sendable {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    /// Receives the events of a connection; called on the event loop.
    struct Events: Sendable {
        /// Calls can be made.
        var opened: @Sendable (HttpConnection) -> Void
        var answered: @Sendable (HttpConnection, Int, HttpAnswerParser.Whole) -> Void
        /// The connection has ended, with the call that was in flight. Called once, also when it never opened.
        var closed: @Sendable (HttpConnection, Int?, (any Error)?) -> Void
    }

    private let events: Events
    private let waitsForTLS: Bool
    private var context: ChannelHandlerContext?
    private var parser = HttpAnswerParser()
    private var inbox = ByteBuffer()
    private var isOver = false
    private var lastError: (any Error)?
    /// The ticket of the call in flight.
    private(set) var ticket: Int?
    private(set) var deadline: Nanoseconds = 0
    /// Calls that it has made.
    private(set) var calls = 0

    init(waitsForTLS: Bool, events: Events) {
        self.waitsForTLS = waitsForTLS
        self.events = events
    }

    /// Sends a request; only while none is in flight.
    func send(_ call: Call, ticket: Int, deadline: Nanoseconds) {
        guard let context else { return }
        self.ticket = ticket
        self.deadline = deadline
        calls += 1
        parser.keepsAll = call.wantsAnswer
        parser.isHead = call.payload.starts(with: Array("HEAD ".utf8))
        var bytes = context.channel.allocator.buffer(capacity: call.payload.count)
        bytes.writeBytes(call.payload)
        context.writeAndFlush(wrapOutboundOut(bytes), promise: nil)
    }

    /// Forgets the call in flight and closes.
    func abandon() {
        ticket = nil
        context?.close(promise: nil)
    }

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    func handlerRemoved(context: ChannelHandlerContext) {
        over()
        self.context = nil
    }

    func channelActive(context: ChannelHandlerContext) {
        if !waitsForTLS { events.opened(self) }
        context.fireChannelActive()
    }

    /// The TLS handshake is done.
    func established() { events.opened(self) }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var bytes = unwrapInboundIn(data)
        if inbox.readableBytes == 0 { inbox = bytes } else { inbox.writeBuffer(&bytes) }
        guard ticket != nil else { return fail(HttpAnswerParser.Rejection(text: "an answer to no call"), context) }
        do throws(HttpAnswerParser.Rejection) {
            if let whole = try parser.read(&inbox) { deliver(whole) }
        } catch {
            fail(error, context)
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        if let whole = parser.end() { deliver(whole) }
        over()
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { fail(error, context) }

    private func deliver(_ whole: HttpAnswerParser.Whole) {
        guard let ticket else { return }
        self.ticket = nil
        events.answered(self, ticket, whole)
    }

    private func fail(_ error: any Error, _ context: ChannelHandlerContext) {
        if lastError == nil { lastError = error }
        context.close(promise: nil)
    }

    private func over() {
        guard !isOver else { return }
        isOver = true
        let lost = ticket
        ticket = nil
        events.closed(self, lost, lastError)
    }
}
