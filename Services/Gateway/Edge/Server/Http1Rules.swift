internal import HTTPTypes
internal import Hummingbird
internal import NIOCore
internal import NIOHTTP1
internal import NIOHTTPTypesHTTP1

/// The demands of HTTP/1 on a server beside its syntax. There is one host per request (RFC 9112 §3.2), and targets may be in absolute form (§3.2.2).
/// The codings are known (§6.1), and connections end when the client or its version wants it (§9.3). Hands requests on in the types of HTTPTypes.
///
/// Only the essence of the field `Connection` is handed on: `close`, `keep-alive` of a client of HTTP/1.0, or nothing. A request behind which the
/// parser may stop is handed on with `close`.
final class Http1Rules: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = RequestPart

    private var names = Http1FieldNames()
    /// The request under way is the last one of the connection.
    private var isLast = false
    /// The connection has had its last request: what comes behind is nobody's.
    private(set) var isOver = false

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isOver else { return }
        switch unwrapInboundIn(data) {
        case .head(let head):
            do {
                let request = try request(head)
                isLast = Self.isLast(head)
                context.fireChannelRead(wrapInboundOut(.head(request)))
            } catch {
                isOver = true
                context.fireErrorCaught(error)
            }
        case .body(let bytes): context.fireChannelRead(wrapInboundOut(.body(bytes)))
        // Nobody reads trailers.
        case .end:
            isOver = isLast
            context.fireChannelRead(wrapInboundOut(.end(nil)))
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        let isOfParser = error is ByteToMessageDecoderError || error is ByteToMessageDecoderError.PayloadTooLargeError
        guard isOfParser || Http1Rejection.status(of: error) != nil else { return context.fireErrorCaught(error) }
        // Behind the last request nothing is wrong.
        guard !isOver else { return }
        isOver = true
        context.fireErrorCaught(error)
    }

    private static func isLast(_ head: HTTPRequestHead) -> Bool { !head.isKeepAlive || Http1Parser.mayStop(behind: head) }

    /// Checks a message with a coding (RFC 9112 §6.1): HTTP/1.0 has none, and the gateway knows one.
    private static func checkCoding(_ head: HTTPRequestHead, _ codings: [String]) throws {
        guard !codings.isEmpty else { return }
        guard head.version != .http1_0 else { throw Http1Rejection.faulty }
        let names = codings.flatMap { $0.split(separator: ",") }.map { $0.filter { $0 != " " && $0 != "\t" }.lowercased() }.filter { !$0.isEmpty }
        // Without chunks at the end nobody can tell where the message ends.
        guard names.last == "chunked" else { throw Http1Rejection.faulty }
        guard names.count > 1 else { return }
        throw names.dropLast().contains("chunked") ? Http1Rejection.faulty : .unknownCoding
    }

    /// - Throws: `headerOverflow` for a head that is larger than HTTP/2 would take it; `Http1Rejection`.
    private func request(_ head: HTTPRequestHead) throws -> HTTPRequest {
        let length = head.headers.reduce(head.uri.utf8.count) { $0 + $1.name.utf8.count + $1.value.utf8.count }
        guard length <= Http1Bounds.longestHead else { throw HTTPParserError.headerOverflow }
        var fields: [HTTPField] = []
        fields.reserveCapacity(head.headers.count + 1)
        var hosts: [String] = []
        var codings: [String] = []
        for (index, header) in head.headers.enumerated() {
            guard let name = names.name(header.name, at: index), name != .connection else { continue }
            switch name.canonicalName {
            case "host": hosts.append(header.value)
            // Clients of HTTP/1.0 wait for nothing (RFC 9110 §10.1.1).
            case "expect" where head.version == .http1_0: break
            case "transfer-encoding":
                codings.append(header.value)
                fields.append(HTTPField(name: name, value: header.value))
            default: fields.append(HTTPField(name: name, value: header.value))
            }
        }
        try Self.checkCoding(head, codings)
        guard hosts.count == 1 || (hosts.isEmpty && head.version == .http1_0) else { throw HTTPParserError.invalidHeaderToken }
        if Self.isLast(head) {
            fields.append(HTTPField(name: .connection, value: "close"))
        } else if head.version == .http1_0 {
            fields.append(HTTPField(name: .connection, value: "keep-alive"))
        }
        var all = HTTPFields()
        // One by one they would be inserted.
        all.replaceSubrange(all.startIndex..<all.endIndex, with: fields)
        return HTTPRequest(
            method: try HTTPRequest.Method(head.method), scheme: "http", authority: try Self.authority(head.uri) ?? hosts.first,
            path: try Self.path(head), headerFields: all)
    }

    /// Nearly every target is a path; what else there may be is left to HTTPTypes.
    private static func path(_ head: HTTPRequestHead) throws -> String? {
        let target = originForm(head.uri)
        if target.utf8.first == UInt8(ascii: "/") { return target }
        return try HTTPRequest(HTTPRequestHead(version: head.version, method: head.method, uri: target), secure: false, splitCookie: false).path
    }

    /// The host and port of a target in absolute form, which count more than `Host` (RFC 9112 §3.2.2).
    /// - Throws: `invalidHeaderToken` for a target without a host (RFC 9110 §4.2.1).
    private static func authority(_ target: String) throws -> String? {
        guard target.utf8.first != UInt8(ascii: "/") else { return nil }
        guard let start = ["http://", "https://"].first(where: { target.prefix($0.count).lowercased() == $0 }) else { return nil }
        let authority = target.dropFirst(start.count).prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        guard let first = authority.utf8.first, first != UInt8(ascii: ":") else { throw HTTPParserError.invalidHeaderToken }
        return String(authority)
    }

    private static func originForm(_ target: String) -> String {
        guard target.utf8.first != UInt8(ascii: "/") else { return target }
        guard let start = ["http://", "https://"].first(where: { target.prefix($0.count).lowercased() == $0 }) else { return target }
        let rest = target.dropFirst(start.count)
        guard let path = rest.firstIndex(where: { $0 == "/" || $0 == "?" }) else { return "/" }
        return rest[path] == "/" ? String(rest[path...]) : "/" + rest[path...]
    }
}

/// Names of header fields, checked and folded. The requests of a connection mostly have the same ones in the same order, so those of the last request
/// serve for the next.
struct Http1FieldNames {
    private static let mostKept = 32
    /// In bytes.
    private static let longestKept = 64

    private var known: [HTTPField.Name] = []

    /// - Parameters:
    ///   - text: As it was sent.
    ///   - place: In the request.
    /// - Returns: `nil` when the text is no token (RFC 9110 §5.1).
    mutating func name(_ text: String, at place: Int) -> HTTPField.Name? {
        if place < known.count, known[place].rawName == text { return known[place] }
        guard let name = HTTPField.Name(text) else { return nil }
        guard text.utf8.count <= Self.longestKept else { return name }
        if place < known.count {
            known[place] = name
        } else if place == known.count, place < Self.mostKept {
            known.append(name)
        }
        return name
    }
}

/// The parser of a connection of HTTP/1.1. Used on the connection's event loop only.
///
/// SwiftNIO's decoder reads nothing behind a request that may lead to another protocol: an offer to upgrade, or CONNECT. It alone knows which
/// requests it takes for such ones, and what comes behind them would pile up in it. So whatever might be one is the last request of its connection
/// (`Http1Rules`), and no decoder takes the place of another.
final class Http1Parser {
    let handler: ByteToMessageHandler<HTTPRequestDecoder>

    init() {
        var limits = NIOHTTPDecoderLimitConfiguration()
        limits.maxHeaderFieldSize = Http1Bounds.longestHead
        limits.maxHeaderListSize = Http1Bounds.longestHead
        limits.maxHeaderFieldCount = Http1Bounds.mostFields
        handler = ByteToMessageHandler(
            HTTPRequestDecoder(leftOverBytesStrategy: .dropBytes, limitConfiguration: limits), maximumBufferSize: Http1Bounds.mostUnparsed)
    }

    /// True for every request behind which the decoder may stop, and for some behind which it does not. The gateway accepts no upgrade (RFC 9110 §7.8
    /// lets it ignore the offer), so nobody needs to know which.
    static func mayStop(behind head: HTTPRequestHead) -> Bool {
        head.method == .CONNECT || head.headers.contains(name: "Upgrade")
    }
}

/// A message of HTTP/1.1 is refused for one of these reasons before there is a request. Its connection ends with the answer.
enum Http1Rejection: Error {
    /// Another server on the way could cut it differently.
    case faulty
    /// A coding of the message that the gateway does not know (RFC 9112 §6.1).
    case unknownCoding

    /// - Returns: `nil` for an error that is none of the message.
    static func status(of error: any Error) -> HTTPResponse.Status? {
        switch error {
        case Http1Rejection.unknownCoding: .notImplemented
        case HTTPParserError.invalidMethod: .notImplemented
        case HTTPParserError.headerOverflow: .requestHeaderFieldsTooLarge
        case is Http1Rejection, is HTTPParserError: .badRequest
        default: nil
        }
    }
}
