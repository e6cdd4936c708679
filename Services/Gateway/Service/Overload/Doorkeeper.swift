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
        let verdict = loop.take(after: last)
        guard verdict != .served, let reply = refusals.reply(to: request, sparesUrgent: verdict == .servedIfUrgent) else { return nil }
        loop.noteRefusal()
        return reply
    }

    /// A responder of HTTP/2, behind this.
    func before(_ responder: @escaping HTTPChannelHandler.Responder) -> HTTPChannelHandler.Responder {
        { request, writer, channel in
            if channel.eventLoop.inEventLoop, let reply = refusal(of: request.head, on: admission.on(channel.eventLoop)) {
                let head = HTTPResponse(status: reply.status, headerFields: reply.fields)
                return try await writer.write(response: head, body: ResponseBody(byteBuffer: reply.body))
            }
            try await responder(request, writer, channel)
        }
    }
}
