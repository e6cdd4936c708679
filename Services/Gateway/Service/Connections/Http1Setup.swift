internal import Logging
internal import NIOCore
internal import NIOHTTP1
internal import NIOHTTPTypesHTTP1

/// Makes a connection speak HTTP/1.1.
struct Http1Setup: Sendable {
    let responder: Http1Conversation.Responder
    /// The longest that a body may take which nobody reads; the reader of a body answers when its own time is over.
    let bodyTime: Duration
    let logger: Logger

    func add(to channel: any Channel) -> EventLoopFuture<Void> {
        channel.eventLoop.makeCompletedFuture {
            let pipeline = channel.pipeline.syncOperations
            try pipeline.handler(type: ConnectionGuard.self).bytesBeginRequests = true
            var limits = NIOHTTPDecoderLimitConfiguration()
            limits.maxHeaderFieldSize = 32 * 1024
            limits.maxHeaderListSize = 64 * 1024
            limits.maxHeaderFieldCount = 100
            // Requests sent ahead are the conversation's affair, and header fields of HTTPTypes need no second check.
            try pipeline.configureHTTPServerPipeline(
                withPipeliningAssistance: false, withErrorHandling: false, withOutboundHeaderValidation: false, withEncoderConfiguration: .init(),
                withDecoderLimitConfiguration: limits)
            let conversation = Http1Conversation(
                base: GatewayContext(source: .init(channel: channel, logger: logger)), eventLoop: channel.eventLoop, responder: responder)
            try pipeline.addHandlers(
                [Http1Rules(), HTTP1ToHTTPServerCodec(secure: false), RequestGuard(isStream: false, bodyTime: bodyTime), conversation])
        }
    }
}
