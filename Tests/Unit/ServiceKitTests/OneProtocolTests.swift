import EventLoops
import HTTPTypes
import NIOCore
import NIOEmbedded
import NIOHTTPTypes
import Testing

/// The answers of the debug listeners, and those of the sandbox, to requests that may lead to another protocol.
@Suite("Connections of one protocol")
struct OneProtocolTests {
    private func request(_ method: HTTPRequest.Method, _ fields: HTTPFields = [:]) -> [HTTPRequestPart] {
        [.head(HTTPRequest(method: method, scheme: "http", authority: "a", path: "/metrics", headerFields: fields)), .end(nil)]
    }

    private func answer(_ channel: EmbeddedChannel, status: HTTPResponse.Status = .ok) throws -> [HTTPResponsePart] {
        for part in [HTTPResponsePart.head(HTTPResponse(status: status)), .body(ByteBuffer(string: "text")), .end(nil)] {
            channel.writeAndFlush(part, promise: nil)
        }
        var parts: [HTTPResponsePart] = []
        while let part = try channel.readOutbound(as: HTTPResponsePart.self) { parts.append(part) }
        return parts
    }

    @Test("an offer to upgrade, and CONNECT, end the connection behind the answer", arguments: [HTTPRequest.Method.get, .connect])
    func last(method: HTTPRequest.Method) throws {
        let channel = EmbeddedChannel(handler: OneProtocol())
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
        for part in request(method, method == .get ? [.upgrade: "h2c"] : [:]) + request(.get) { try channel.writeInbound(part) }
        var heads = 0
        while let part = try channel.readInbound(as: HTTPRequestPart.self) { if case .head = part { heads += 1 } }
        #expect(heads == 1, "what comes behind is nobody's")
        guard case .head(let head)? = try answer(channel).first else { throw CancellationError() }
        #expect(head.headerFields[.connection] == "close" && !channel.isActive)
    }

    @Test("other requests leave the connection open, and HEAD has no content")
    func ordinary() throws {
        let channel = EmbeddedChannel(handler: OneProtocol())
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
        for part in request(.head) + request(.get) { try channel.writeInbound(part) }
        #expect(try answer(channel, status: .notFound).count == 2)
        #expect(try answer(channel).count == 3 && channel.isActive)
        _ = try channel.finish()
    }
}
