internal import NIOCore
internal import NIOHTTP1

/// The parser of a connection of HTTP/1.1. Used on the connection's event loop only.
///
/// It takes a request that offers an upgrade for the last one of the connection. The gateway accepts no such offer (RFC 9110 §7.8 lets it ignore them), so
/// a fresh parser goes on behind that request.
final class Http1Parser {
    /// In the pipeline now.
    private(set) var handler = Http1Parser.fresh()

    private static func fresh() -> ByteToMessageHandler<HTTPRequestDecoder> {
        var limits = NIOHTTPDecoderLimitConfiguration()
        limits.maxHeaderFieldSize = Http1Bounds.longestHead
        limits.maxHeaderListSize = Http1Bounds.longestHead
        limits.maxHeaderFieldCount = Http1Bounds.mostFields
        return ByteToMessageHandler(HTTPRequestDecoder(leftOverBytesStrategy: .forwardBytes, limitConfiguration: limits))
    }

    /// True where the parser reads nothing behind the request.
    static func stops(behind head: HTTPRequestHead) -> Bool {
        guard head.headers.contains(name: "Upgrade") else { return false }
        return head.headers[canonicalForm: "Connection"].contains { $0.lowercased() == "upgrade" }
    }

    /// What the old parser holds, and what comes, is the new one's. Called with the end of the request at which the old one stopped.
    func renew(_ context: ChannelHandlerContext) throws {
        let old = handler
        handler = Self.fresh()
        try context.pipeline.syncOperations.addHandler(handler, position: .after(old))
        context.pipeline.syncOperations.removeHandler(old, promise: nil)
    }
}
