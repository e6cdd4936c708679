internal import Logging
internal import NIOCore
internal import NIOHTTP1

/// Makes a connection speak HTTP/1.1.
struct Http1Setup: Sendable {
    let doorkeeper: Doorkeeper
    let responder: Http1Conversation.Responder
    /// The longest that a body may take which nobody reads; the reader of a body answers when its own time is over.
    let bodyTime: Duration
    let logger: Logger

    func add(to channel: any Channel) -> EventLoopFuture<Void> {
        channel.eventLoop.makeCompletedFuture {
            let pipeline = channel.pipeline.syncOperations
            let connection = try pipeline.handler(type: ConnectionGuard.self)
            connection.bytesBeginRequests = true
            let requestGuard = RequestGuard(isStream: false, bodyTime: bodyTime)
            let conversation = Http1Conversation(
                base: GatewayContext(source: .init(channel: channel, logger: logger)), eventLoop: channel.eventLoop, requestGuard: requestGuard,
                doorkeeper: doorkeeper, responder: responder)
            let rules = Http1Rules()
            let early = EarlyRefusal(doorkeeper, eventLoop: channel.eventLoop, rules: rules, requestGuard: requestGuard, connection: connection)
            try pipeline.addHandlers([early, Http1Parser().handler, rules, requestGuard, conversation])
        }
    }
}
