internal import CommandKit
internal import Foundation
internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix
internal import StrictJson
internal import Synchronization

/// An HTTP server on this machine's own address that answers each call from what it is given; a connection ends with its answer.
final class TapeServer: Sendable {
    typealias Responder = @Sendable (TapeCall) async -> TapeAnswer

    private static let host = "127.0.0.1"
    private static let largestBody = 256 * 1024

    private let group: MultiThreadedEventLoopGroup
    private let channel: any Channel

    private init(_ group: MultiThreadedEventLoopGroup, _ channel: any Channel) { (self.group, self.channel) = (group, channel) }

    /// Origin.
    var address: String { "http://\(Self.host):\(channel.localAddress?.port ?? 0)" }

    /// - Parameter port: 0: one that is free.
    /// - Throws: `CommandFailure` when nobody can listen there.
    static func start(port: Int, _ respond: @escaping Responder) async throws -> TapeServer {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let load = TapeLoad()
        let bootstrap = ServerBootstrap(group: group)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(IdleStateHandler(allTimeout: .seconds(90)))
                    try channel.pipeline.syncOperations.configureHTTPServerPipeline(withPipeliningAssistance: false, withErrorHandling: true)
                    try channel.pipeline.syncOperations.addHandlers(
                        NIOHTTPServerRequestAggregator(maxContentLength: largestBody), TapeHandler(respond, load))
                }
            }
        do {
            return TapeServer(group, try await bootstrap.bind(host: host, port: port).get())
        } catch {
            try? await group.shutdownGracefully()
            throw CommandFailure("cannot listen at \(host):\(port) (\(PlainReason.of(error)))", advice: "give another --port", exit: .usage)
        }
    }

    func stop() async {
        try? await channel.close()
        try? await group.shutdownGracefully()
    }
}

/// The number of calls that are answered now.
private final class TapeLoad: Sendable {
    private static let most = 64
    private let count = Atomic(0)

    func begin() -> Bool {
        if count.add(1, ordering: .relaxed).oldValue < Self.most { return true }
        end()
        return false
    }

    func end() { count.subtract(1, ordering: .relaxed) }
}

/// One request on each connection.
private final class TapeHandler: ChannelInboundHandler {
    typealias InboundIn = NIOHTTPServerRequestFull
    typealias OutboundOut = HTTPServerResponsePart

    private let respond: TapeServer.Responder
    private let load: TapeLoad
    private var isAnswering = false

    init(_ respond: @escaping TapeServer.Responder, _ load: TapeLoad) { (self.respond, self.load) = (respond, load) }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let request = unwrapInboundIn(data)
        guard !isAnswering else { return context.close(promise: nil) }
        isAnswering = true
        let call = TapeCall(
            method: request.head.method.rawValue, uri: request.head.uri, headers: request.head.headers.map { ($0.name, $0.value) },
            body: request.body.map { Array($0.readableBytesView) } ?? [])
        Self.answer(call, by: respond, load, on: context.channel)
    }

    private static func answer(_ call: TapeCall, by respond: @escaping TapeServer.Responder, _ load: TapeLoad, on channel: any Channel) {
        guard load.begin() else { return send(.problem(503, "service_unavailable", "too many calls at once"), on: channel) }
        Task {
            let answer = await respond(call)
            load.end()
            send(answer, on: channel)
        }
    }

    private static func send(_ answer: TapeAnswer, on channel: any Channel) {
        var headers = HTTPHeaders(answer.headers.map { ($0.name, $0.value) })
        if answer.status != 204 { headers.replaceOrAdd(name: "Content-Length", value: "\(answer.body.count)") }
        headers.replaceOrAdd(name: "Connection", value: "close")
        let head = HTTPResponseHead(version: .http1_1, status: HTTPResponseStatus(statusCode: answer.status), headers: headers)
        channel.write(HTTPServerResponsePart.head(head), promise: nil)
        if !answer.body.isEmpty { channel.write(HTTPServerResponsePart.body(.byteBuffer(ByteBuffer(bytes: answer.body))), promise: nil) }
        channel.writeAndFlush(HTTPServerResponsePart.end(nil)).whenComplete { _ in channel.close(promise: nil) }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if event is IdleStateHandler.IdleStateEvent { return context.close(promise: nil) }
        context.fireUserInboundEventTriggered(event)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}

/// Hands calls on to an upstream, and its answers back.
struct TapeForwarding: Sendable {
    let exchange: HTTPExchange
    /// The upstream's origin.
    let upstream: String

    private static let ownHeaders: Set<String> = [
        "host", "content-length", "connection", "keep-alive", "transfer-encoding", "te", "trailer", "upgrade", "accept-encoding", "proxy-connection",
    ]
    private static let timeout: TimeAmount = .seconds(60)

    /// The origin of an address that calls may go to.
    /// - Throws: `CommandFailure` for one that is no origin, or would carry secrets in the clear.
    static func origin(_ text: String) throws -> String {
        guard let url = URL(string: text), let scheme = url.scheme?.lowercased(), let host = url.host, !host.isEmpty, url.user == nil,
            ["", "/"].contains(url.path), url.query == nil, url.fragment == nil, ["http", "https"].contains(scheme)
        else {
            throw CommandFailure("'\(text)' is no origin", advice: "give scheme, host and port, such as https://api.vendor.example", exit: .usage)
        }
        guard scheme == "https" || ["127.0.0.1", "localhost", "::1", "[::1]"].contains(host) else {
            throw CommandFailure("'\(text)' is not https", advice: "secrets go there; http is for this machine alone", exit: .usage)
        }
        return text.hasSuffix("/") ? String(text.dropLast()) : text
    }

    /// - Throws: The errors of the client.
    func ask(_ call: TapeCall) async throws -> TapeAnswer {
        let headers = call.headers.filter { !Self.ownHeaders.contains($0.name.lowercased()) }.map { ($0.name, $0.value) }
        let answer = try await exchange.exchange(
            call.method, upstream + call.uri, headers: headers, body: call.body.isEmpty ? nil : ByteBuffer(bytes: call.body), timeout: Self.timeout)
        return TapeAnswer(
            status: answer.status, headers: answer.headers.filter { !Self.ownHeaders.contains($0.name.lowercased()) }, body: answer.body)
    }

    /// The answer with the recorder's address where it sends browsers to the upstream's: the cluster knows the recorder as the upstream.
    func returned(_ answer: TapeAnswer, by own: String) -> TapeAnswer {
        guard String(decoding: answer.body, as: UTF8.self).contains("\"url\""), let root = try? JsonDocument(parsing: answer.body).root else {
            return answer
        }
        var changed = answer
        changed.body = Array(moved(TapeValue(root), "", to: own).text.utf8)
        return changed
    }

    private func moved(_ value: TapeValue, _ name: String, to own: String) -> TapeValue {
        switch value {
        case .array(let elements): .array(elements.map { moved($0, name, to: own) })
        case .object(let members): .object(members.map { TapeValue.Member(name: $0.name, value: moved($0.value, $0.name, to: own)) })
        case .string(let text) where name == "url" && (text == upstream || text.hasPrefix(upstream + "/")):
            .string(own + text.dropFirst(upstream.count))
        default: value
        }
    }
}

/// A JSON value that can be made and changed.
enum TapeValue: Sendable {
    case null
    case bool(Bool)
    /// As it is written.
    case number(String)
    case string(String)
    case array([TapeValue])
    case object([Member])

    struct Member: Sendable {
        let name: String
        let value: TapeValue
    }

    init(_ node: JsonNode) {
        self =
            switch node.content {
            case .null: .null
            case .bool(let bool): .bool(bool)
            case .number(let text): .number(text)
            case .string(let text): .string(text)
            case .array(let elements): .array(elements.map { TapeValue($0) })
            case .object(let members): .object(members.map { Member(name: $0.name, value: TapeValue($0.value)) })
            }
    }

    static func object(_ members: [(String, TapeValue)]) -> TapeValue { .object(members.map { Member(name: $0.0, value: $0.1) }) }

    /// As JSON, in one line.
    var text: String {
        var json = JsonWriter()
        write(to: &json)
        return json.text
    }

    private func write(to json: inout JsonWriter) {
        switch self {
        case .null: json.null()
        case .bool(let bool): json.bool(bool)
        case .number(let text): json.written(text)
        case .string(let text): json.string(text)
        case .array(let elements):
            json.beginArray()
            for element in elements { element.write(to: &json) }
            json.endArray()
        case .object(let members):
            json.beginObject()
            for member in members {
                json.name(member.name)
                member.value.write(to: &json)
            }
            json.endObject()
        }
    }

    var string: String? { if case .string(let text) = self { text } else { nil } }
    var members: [Member]? { if case .object(let members) = self { members } else { nil } }
    var integer: Int64? { if case .number(let text) = self { Int64(text) } else { nil } }

    subscript(name: String) -> TapeValue? { members?.first { $0.name == name }?.value }

    /// With the members of all objects by their names.
    var sorted: TapeValue {
        switch self {
        case .array(let elements): .array(elements.map(\.sorted))
        case .object(let members):
            .object(members.map { Member(name: $0.name, value: $0.value.sorted) }.sorted { OctetText($0.name) < OctetText($1.name) })
        default: self
        }
    }
}
