internal import HTTPTypes
public import NIOCore
public import NIOHTTPTypes

/// Serves connections of a web server that speaks HTTP/1.1 and nothing else. A request that may lead to another protocol (an offer to upgrade, or
/// CONNECT) is the last one of its connection. The answer to HEAD has no content (RFC 9110 §9.3.2).
///
/// SwiftNIO's decoder reads nothing behind such a request, and would keep whatever else comes.
public final class OneProtocol: ChannelDuplexHandler, RemovableChannelHandler {
    public typealias InboundIn = HTTPRequestPart
    public typealias InboundOut = HTTPRequestPart
    public typealias OutboundIn = HTTPResponsePart
    public typealias OutboundOut = HTTPResponsePart

    private struct Unanswered {
        let isHead: Bool
        let isLast: Bool
    }

    /// In the order in which they came.
    private var requests = CircularBuffer<Unanswered>()
    /// The last request has come.
    private var isOver = false

    public init() {}

    public func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isOver else { return }
        switch unwrapInboundIn(data) {
        case .head(let head):
            let isLast = head.method == .connect || head.headerFields.contains(.upgrade)
            requests.append(Unanswered(isHead: head.method == .head, isLast: isLast))
        case .body: break
        case .end: isOver = requests.last?.isLast ?? false
        }
        context.fireChannelRead(data)
    }

    /// Nothing is read behind the last request.
    public func read(context: ChannelHandlerContext) { if !isOver { context.read() } }

    public func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        switch (unwrapOutboundIn(data), requests.first) {
        case (.head(var head), let request?) where request.isLast && head.status.kind != .informational:
            head.headerFields[.connection] = "close"
            context.write(wrapOutboundOut(.head(head)), promise: promise)
        case (.body, let request?) where request.isHead: promise?.succeed()
        case (.end, let request?):
            requests.removeFirst()
            guard request.isLast else { return context.write(data, promise: promise) }
            context.writeAndFlush(data, promise: promise)
            context.close(promise: nil)
        default: context.write(data, promise: promise)
        }
    }
}
