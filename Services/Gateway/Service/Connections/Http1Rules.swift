internal import NIOCore
internal import NIOHTTP1

/// What HTTP/1 asks of a server beside its syntax: one host per request (RFC 9112 §3.2), targets in absolute form (§3.2.2), and connections that end
/// when the client or its version wants it (§9.3).
final class Http1Rules: ChannelDuplexHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart
    typealias OutboundIn = HTTPServerResponsePart
    typealias OutboundOut = HTTPServerResponsePart

    private struct Wish {
        let keepsOpen: Bool
        let version: HTTPVersion
    }

    /// Of the requests that wait for their answer, in order.
    private var wishes = CircularBuffer<Wish>()
    private var isRefused = false

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isRefused else { return }
        guard case .head(var head) = unwrapInboundIn(data) else { return context.fireChannelRead(data) }
        let hosts = head.headers[canonicalForm: "host"].count
        guard hosts == 1 || (hosts == 0 && head.version == .http1_0) else {
            isRefused = true
            return context.fireErrorCaught(HTTPParserError.invalidHeaderToken)
        }
        wishes.append(Wish(keepsOpen: head.isKeepAlive, version: head.version))
        // The server looks for exactly this value.
        if !head.isKeepAlive { head.headers.replaceOrAdd(name: "connection", value: "close") }
        head.uri = Self.originForm(head.uri)
        context.fireChannelRead(wrapInboundOut(.head(head)))
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard case .head(var response) = unwrapOutboundIn(data), response.status.code >= 200, let wish = wishes.popFirst() else {
            return context.write(data, promise: promise)
        }
        if !wish.keepsOpen {
            response.headers.replaceOrAdd(name: "connection", value: "close")
        } else if wish.version == .http1_0, !response.headers.contains(name: "connection") {
            response.headers.add(name: "connection", value: "keep-alive")
        }
        context.write(wrapOutboundOut(.head(response)), promise: promise)
    }

    private static func originForm(_ target: String) -> String {
        guard let start = ["http://", "https://"].first(where: { target.prefix($0.count).lowercased() == $0 }) else { return target }
        let rest = target.dropFirst(start.count)
        guard let path = rest.firstIndex(where: { $0 == "/" || $0 == "?" }) else { return "/" }
        return rest[path] == "/" ? String(rest[path...]) : "/" + rest[path...]
    }
}
