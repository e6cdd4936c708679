internal import NIOCore
internal import NIOHTTP1

/// The parser of a connection of HTTP/1.1. Used on the connection's event loop only.
///
/// SwiftNIO's decoder reads nothing behind a request that may lead to another protocol: an offer to upgrade, or CONNECT. It alone knows which requests it takes
/// for such ones, and what comes behind them would pile up in it. So whatever might be one is the last request of its connection (`Http1Rules`), and no decoder
/// takes the place of another.
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

    /// True for every request behind which the decoder may stop, and for some behind which it does not: the gateway accepts no upgrade (RFC 9110 §7.8 lets it
    /// ignore the offer), so nobody needs to know which.
    static func mayStop(behind head: HTTPRequestHead) -> Bool {
        head.method == .CONNECT || head.headers.contains(name: "Upgrade")
    }
}
