internal import Hummingbird
internal import HummingbirdCore
internal import NIOCore

/// Stands in front of the parser of a connection of HTTP/1.1. It refuses plain requests that the gateway has no time for before they are parsed, so
/// that refusals cost accepted requests little. Drops what comes behind the last request of a connection, which the parser would keep.
///
/// It steps in only where the request before has been answered and the parser holds nothing; all other bytes are the parser's.
final class EarlyRefusal: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let refusals: OverloadRefusals
    private let admission: LoopAdmission
    private let rules: Http1Rules
    private let requestGuard: RequestGuard
    private let connection: ConnectionGuard
    /// The parser has seen the end of a request, and nothing after it.
    private var isBetweenRequests = true

    init(_ loadShedder: LoadShedder, eventLoop: any EventLoop, rules: Http1Rules, requestGuard: RequestGuard, connection: ConnectionGuard) {
        refusals = loadShedder.refusals
        admission = loadShedder.admission.on(eventLoop)
        self.rules = rules
        self.requestGuard = requestGuard
        self.connection = connection
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !rules.isOver else { return }
        let endsHead: Bool
        do {
            let bytes = unwrapInboundIn(data)
            if isBetweenRequests, requestGuard.isIdle, context.channel.isWritable, let refusal = refusal(of: bytes) {
                connection.requestBegan()
                connection.requestEnded()
                return context.writeAndFlush(wrapOutboundOut(refusal), promise: nil)
            }
            endsHead = bytes.readableBytesView.suffix(4).elementsEqual(Self.endOfHead)
        }
        context.fireChannelRead(data)
        isBetweenRequests = endsHead && requestGuard.hasWholeRequests
    }

    private static let endOfHead: [UInt8] = [0x0d, 0x0a, 0x0d, 0x0a]

    private func refusal(of bytes: ByteBuffer) -> ByteBuffer? {
        let verdict = admission.verdict
        guard verdict != .served, let request = bytes.withUnsafeReadableBytes({ PlainGet($0) }),
            let refusal = refusals.refusal(of: request, sparesUrgent: verdict == .servedIfUrgent)
        else { return nil }
        admission.noteRefusal()
        return refusal
    }
}

/// Refuses the requests of a listener that the gateway has no time for, before anything else is done for them.
struct LoadShedder: Sendable {
    let admission: Admission
    let refusals: OverloadRefusals

    /// - Parameters:
    ///   - loop: The loop of the connection; called on it.
    ///   - last: The loop's round in which a request of the connection was taken up last; 0 if none was.
    /// - Returns: The refusal; `nil`: the request is served.
    func refusal(of request: HTTPRequest, on loop: LoopAdmission, after last: UInt64 = 0) -> Http1Conversation.Reply? {
        refusal(of: request, loop.take(after: last), on: loop)
    }

    private func refusal(of request: HTTPRequest, _ verdict: LoopLoad.Verdict, on loop: LoopAdmission) -> Http1Conversation.Reply? {
        guard verdict != .served, let reply = refusals.reply(to: request, sparesUrgent: verdict == .servedIfUrgent) else { return nil }
        loop.noteRefusal()
        return reply
    }

    /// A responder of HTTP/2, behind this. The streams of a connection share its turns.
    func before(_ responder: @escaping HTTPChannelHandler.Responder) -> HTTPChannelHandler.Responder {
        { request, writer, channel in
            guard channel.eventLoop.inEventLoop, let streams = Self.streams(of: channel) else { return try await responder(request, writer, channel) }
            guard let verdict = await streams.take(), channel.isActive else { return }
            if let reply = refusal(of: request.head, verdict, on: admission.on(channel.eventLoop)) {
                let head = HTTPResponse(status: reply.status, headerFields: reply.fields)
                return try await writer.write(response: head, body: ResponseBody(byteBuffer: reply.body))
            }
            try await responder(request, writer, channel)
        }
    }

    private static func streams(of stream: any Channel) -> StreamTurns? {
        (try? stream.parent?.pipeline.syncOperations.handler(type: ConnectionGuard.self))?.streams
    }
}
