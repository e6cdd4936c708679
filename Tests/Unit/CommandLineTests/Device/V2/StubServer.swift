import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix

/// One request, as the stub sees it.
struct StubRequest: Sendable {
    let method: String
    let path: String
    /// The values of the query and of a form in the body.
    let values: [String: String]
    let headers: [String: String]
    let body: String

    func header(_ name: String) -> String? { headers[name.lowercased()] }
}

struct StubAnswer: Sendable {
    var status = 200
    var headers: [(String, String)] = []
    var body = ""

    static func json(_ object: Any) -> StubAnswer { json(200, object) }

    static func json(_ status: Int, _ object: Any) -> StubAnswer {
        let body = (try? JSONSerialization.data(withJSONObject: object)).map { String(decoding: $0, as: UTF8.self) } ?? ""
        return StubAnswer(status: status, headers: [("Content-Type", "application/json;charset=UTF-8")], body: body)
    }
}

/// An HTTP/1.1 server of one function.
final class StubServer: Sendable {
    let url: String
    private let channel: any Channel

    /// Runs `body` with a server on a free port of the loopback interface.
    static func with<Value>(
        _ answer: @escaping @Sendable (StubRequest) async -> StubAnswer, _ body: (StubServer) async throws -> Value
    ) async throws -> Value {
        let server = try await StubServer(answer)
        let result: Result<Value, any Error>
        do { result = .success(try await body(server)) } catch { result = .failure(error) }
        try await server.channel.close()
        return try result.get()
    }

    private init(_ answer: @escaping @Sendable (StubRequest) async -> StubAnswer) async throws {
        channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.configureHTTPServerPipeline()
                    try channel.pipeline.syncOperations.addHandler(StubHandler(answer))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        url = "http://127.0.0.1:\(channel.localAddress?.port ?? 0)"
    }
}

private final class StubHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private let answer: @Sendable (StubRequest) async -> StubAnswer
    private var head: HTTPRequestHead?
    private var body = ""

    init(_ answer: @escaping @Sendable (StubRequest) async -> StubAnswer) { self.answer = answer }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head): (self.head, body) = (head, "")
        case .body(let buffer): body += String(buffer: buffer)
        case .end:
            guard let head else { return }
            let (request, channel, answer) = (Self.request(head, body), context.channel, answer)
            Task {
                let given = await answer(request)
                var headers = HTTPHeaders(given.headers)
                headers.replaceOrAdd(name: "Content-Length", value: "\(given.body.utf8.count)")
                let head = HTTPResponseHead(version: .http1_1, status: HTTPResponseStatus(statusCode: given.status), headers: headers)
                channel.write(HTTPServerResponsePart.head(head), promise: nil)
                channel.write(HTTPServerResponsePart.body(.byteBuffer(ByteBuffer(string: given.body))), promise: nil)
                channel.writeAndFlush(HTTPServerResponsePart.end(nil), promise: nil)
            }
        }
    }

    private static func request(_ head: HTTPRequestHead, _ body: String) -> StubRequest {
        let headers = Dictionary(head.headers.map { ($0.name.lowercased(), $0.value) }) { first, _ in first }
        let isForm = headers["content-type"] == "application/x-www-form-urlencoded"
        let parts = head.uri.split(separator: "?", maxSplits: 1).map(String.init)
        let pairs = [parts.count == 2 ? parts[1] : "", isForm ? body : ""].flatMap { $0.split(separator: "&") }.map { pair in
            let sides = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map {
                $0.replacing("+", with: " ").removingPercentEncoding ?? ""
            }
            return (sides[0], sides.count == 2 ? sides[1] : "")
        }
        return StubRequest(
            method: head.method.rawValue, path: parts.first ?? "/", values: Dictionary(pairs) { first, _ in first }, headers: headers, body: body)
    }
}
