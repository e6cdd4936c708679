internal import HTTPTypes
internal import Hummingbird
internal import NIOCore
internal import NIOHTTP1
internal import NIOHTTPTypesHTTP1

/// What HTTP/1 asks of a server beside its syntax: one host per request (RFC 9112 §3.2), targets in absolute form (§3.2.2), and connections that end
/// when the client or its version wants it (§9.3). Hands requests on in the types of HTTPTypes.
///
/// Of the field `Connection` only the essence is handed on: `close`, `keep-alive` of a client of HTTP/1.0, or nothing.
final class Http1Rules: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = RequestPart

    private let parser: Http1Parser
    private var names = Http1FieldNames()
    private var isRefused = false
    /// The parser stops behind the request under way.
    private var needsParser = false

    init(_ parser: Http1Parser) { self.parser = parser }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isRefused else { return }
        switch unwrapInboundIn(data) {
        case .head(let head):
            do {
                needsParser = Http1Parser.stops(behind: head)
                context.fireChannelRead(wrapInboundOut(.head(try request(head))))
            } catch {
                isRefused = true
                context.fireErrorCaught(error)
            }
        case .body(let bytes): context.fireChannelRead(wrapInboundOut(.body(bytes)))
        // Nobody reads trailers.
        case .end:
            if needsParser { try? parser.renew(context) }
            needsParser = false
            context.fireChannelRead(wrapInboundOut(.end(nil)))
        }
    }

    /// - Throws: `headerOverflow` for a head that is larger than HTTP/2 would take it.
    private func request(_ head: HTTPRequestHead) throws -> HTTPRequest {
        let length = head.headers.reduce(head.uri.utf8.count) { $0 + $1.name.utf8.count + $1.value.utf8.count }
        guard length <= Http1Bounds.longestHead else { throw HTTPParserError.headerOverflow }
        var fields: [HTTPField] = []
        fields.reserveCapacity(head.headers.count + 1)
        var hosts: [String] = []
        for (index, header) in head.headers.enumerated() {
            guard let name = names.name(header.name, at: index), name != .connection else { continue }
            if name.canonicalName == "host" {
                hosts.append(header.value)
            } else {
                fields.append(HTTPField(name: name, value: header.value))
            }
        }
        guard hosts.count == 1 || (hosts.isEmpty && head.version == .http1_0) else { throw HTTPParserError.invalidHeaderToken }
        if !head.isKeepAlive {
            fields.append(HTTPField(name: .connection, value: "close"))
        } else if head.version == .http1_0 {
            fields.append(HTTPField(name: .connection, value: "keep-alive"))
        }
        var all = HTTPFields()
        // One by one they would be inserted.
        all.replaceSubrange(all.startIndex..<all.endIndex, with: fields)
        return HTTPRequest(
            method: try HTTPRequest.Method(head.method), scheme: "http", authority: Self.authority(head.uri) ?? hosts.first,
            path: try Self.path(head), headerFields: all)
    }

    /// Nearly every target is a path; what else there may be is left to HTTPTypes.
    private static func path(_ head: HTTPRequestHead) throws -> String? {
        let target = originForm(head.uri)
        if target.utf8.first == UInt8(ascii: "/") { return target }
        return try HTTPRequest(HTTPRequestHead(version: head.version, method: head.method, uri: target), secure: false, splitCookie: false).path
    }

    /// Of a target in absolute form, which counts more than `Host` (RFC 9112 §3.2.2).
    private static func authority(_ target: String) -> String? {
        guard target.utf8.first != UInt8(ascii: "/") else { return nil }
        guard let start = ["http://", "https://"].first(where: { target.prefix($0.count).lowercased() == $0 }) else { return nil }
        let authority = target.dropFirst(start.count).prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        return authority.isEmpty ? nil : String(authority)
    }

    private static func originForm(_ target: String) -> String {
        guard target.utf8.first != UInt8(ascii: "/") else { return target }
        guard let start = ["http://", "https://"].first(where: { target.prefix($0.count).lowercased() == $0 }) else { return target }
        let rest = target.dropFirst(start.count)
        guard let path = rest.firstIndex(where: { $0 == "/" || $0 == "?" }) else { return "/" }
        return rest[path] == "/" ? String(rest[path...]) : "/" + rest[path...]
    }
}
