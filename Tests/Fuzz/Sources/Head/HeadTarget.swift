internal import HTTPTypes
internal import NIOCore
internal import NIOEmbedded
internal import NIOHTTP1
internal import NIOHTTPTypes

/// As the gateway's other handlers call it.
typealias RequestPart = HTTPRequestPart

/// Heads of HTTP/1.1 requests. The result does not depend on how the octets are cut into reads, and keeps its bounds. A head that is written of it
/// reads the same. A quick look at a GET finds the same as the parser.
///
/// The first byte chooses the size of reads; the rest is what a client sends.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzHeads(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
    let input = UnsafeRawBufferPointer(start: start, count: count)
    guard let choice = input.first else { return 0 }
    let bytes = [UInt8](input.dropFirst())
    let whole = Conversation(bytes, readSize: max(1, bytes.count))
    let cut = Conversation(bytes, readSize: 1 + Int(choice) % 61)
    check(cut.requests == whole.requests && cut.isBroken == whole.isBroken, "the cut of the reads changes the meaning")
    for request in whole.requests {
        checkBounds(request.head)
        checkAgain(request)
    }
    // It does not look for control characters in values, for which the parser refuses a head: an overloaded gateway may refuse it as busy.
    let holdsControls = bytes.contains { $0 < 0x20 && $0 != 0x09 && $0 != 0x0a && $0 != 0x0d || $0 == 0x7f }
    if let plain = bytes.withUnsafeBytes({ PlainGet($0) }), !(whole.isBroken && holdsControls) { checkPlain(plain, whole) }
    return 0
}

/// Unlike a precondition it says what, also in an optimised build.
private func check(_ condition: Bool, _ what: StaticString) { if !condition { fatalError("\(what)") } }

private func checkBounds(_ head: HTTPRequest) {
    let size = head.headerFields.reduce((head.path ?? "").utf8.count) { $0 + $1.name.rawName.utf8.count + $1.value.utf8.count }
    // The added field tells the connection's fate.
    check(size <= Http1Bounds.longestHead + 32 && head.headerFields.count <= Http1Bounds.mostFields + 1, "a head leaves its bounds")
    check(head.headerFields[values: .connection].allSatisfy { $0 == "close" || $0 == "keep-alive" }, "a field of the connection is handed on")
    check(head.headerFields[fields: HTTPField.Name("Host")!].isEmpty, "a host is handed on as a field")
    for field in head.headerFields {
        check(field.value.utf8.allSatisfy { $0 != 0 && $0 != 0x0a && $0 != 0x0d }, "a value holds the end of a line")
    }
    check((head.path ?? "").utf8.allSatisfy { $0 > 0x20 && $0 != 0x7f }, "a target holds a blank")
}

/// This concerns requests without a body: those that have one are written in more than one way.
private func checkAgain(_ request: Conversation.Request) {
    let head = request.head
    guard request.body.isEmpty, request.hasEnded, let path = head.path, path.utf8.first == 0x2f, let authority = head.authority, !authority.isEmpty
    else { return }
    let others = [HTTPField.Name.connection, .transferEncoding, .contentLength, .upgrade]
    guard !head.headerFields.contains(where: { others.contains($0.name) }), head.method != .connect else { return }
    var text = Array("\(head.method.rawValue) \(path) HTTP/1.1\r\nHost: \(authority)\r\n".utf8)
    for field in head.headerFields { text += "\(field.name.rawName): \(field.value)\r\n".utf8 }
    text += "\r\n".utf8
    guard head.headerFields.count < Http1Bounds.mostFields, text.count < Http1Bounds.longestHead else { return }
    let again = Conversation(text, readSize: text.count)
    check(again.requests.count == 1 && again.requests[0] == request && !again.isBroken, "a head changed on its way")
}

private func checkPlain(_ plain: PlainGet, _ conversation: Conversation) {
    check(conversation.requests.count == 1 && !conversation.isBroken && conversation.requests[0].hasEnded, "a plain GET is no request")
    let request = conversation.requests[0]
    check(request.head.method == .get && request.body.isEmpty, "a plain GET is another request")
    let path = (request.head.path ?? "").utf8.prefix { $0 != 0x3f && $0 != 0x23 }
    check(path.elementsEqual(plain.path.utf8), "a plain GET has another path")
    check(
        plain.accept.map { accept in request.head.headerFields[values: .accept].contains { $0 == trimmed(accept) } } ?? true,
        "a plain GET accepts something else")
}

private func trimmed(_ text: String) -> String {
    var slice = text.utf8[...]
    while slice.last == 0x20 || slice.last == 0x09 { slice.removeLast() }
    return String(slice.drop { $0 == 0x20 || $0 == 0x09 }) ?? ""
}

/// The result of the gateway's handlers for the octets of a connection.
struct Conversation {
    struct Request: Equatable {
        let head: HTTPRequest
        var body: [UInt8] = []
        var hasEnded = false
    }

    let requests: [Request]
    /// The input is no HTTP, from some octet on.
    let isBroken: Bool

    init(_ bytes: [UInt8], readSize: Int) {
        let collector = Collector()
        let channel = EmbeddedChannel()
        do {
            try channel.pipeline.syncOperations.addHandlers([Http1Parser().handler, Http1Rules(), collector])
            for start in stride(from: 0, to: bytes.count, by: readSize) {
                guard !collector.isBroken else { break }
                try channel.writeInbound(ByteBuffer(bytes: bytes[start..<min(start + readSize, bytes.count)]))
            }
        } catch {
            fatalError("the pipeline fails: \(error)")
        }
        requests = collector.requests
        isBroken = collector.isBroken
        _ = try? channel.finish(acceptAlreadyClosed: true)
    }
}

private final class Collector: ChannelInboundHandler {
    typealias InboundIn = RequestPart

    var requests: [Conversation.Request] = []
    var isBroken = false

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isBroken else { return }
        switch unwrapInboundIn(data) {
        case .head(let head): requests.append(Conversation.Request(head: head))
        case .body(let bytes): requests[requests.count - 1].body += bytes.readableBytesView
        case .end: requests[requests.count - 1].hasEnded = true
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { isBroken = true }
}
