internal import Hummingbird
internal import HummingbirdCore
internal import NIOCore

/// Refuses the requests of a listener that the gateway has no time for, before anything else is done for them.
struct Doorkeeper: Sendable {
    let admission: Admission
    let refusals: OverloadRefusals

    /// - Parameters:
    ///   - loop: That of the connection; called on it.
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
