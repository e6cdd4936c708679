internal import CoreMetrics
internal import NIOCore

/// Ends connections of HTTP/2 whose frames bring nothing.
///
/// A ping must be answered, settings must be acknowledged, a window may grow by one octet: each costs the sender nothing and us a little. So a
/// connection has a budget of such frames. A request gives some of it back, as does the data of a body, and time a little. A client that reads
/// answers may move windows for each part of them, as proxies do. An ordinary client never notices. A client that has used it up gets GOAWAY with
/// ENHANCE_YOUR_CALM (RFC 9113 §10.5). Stands where frames are octets still, so that nothing is decoded for a flood.
final class Http2FrameBudget: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundIn = IOData
    typealias OutboundOut = IOData

    /// Frames that may bring nothing, at first and at most.
    static let most = 2000
    /// The units that a request gives back: answers to it move windows.
    static let perRequest = 50
    /// Octets of a body for which a frame costs nothing, and of answers for which a window may move once more.
    static let worthwhile = 256
    /// Moves of windows that answers may have earned.
    static let mostEarned = 100_000
    /// The units that a second gives back.
    private static let perSecond = 10

    /// The cost of taking back a stream: somewhat more than its request gave, so that streams that are begun and reset end too.
    static let perReset = 60
    /// The end may take this long to be read; closing at once could destroy it on the way.
    private static let farewell = TimeAmount.milliseconds(500)

    private enum Kind: UInt8 {
        case data = 0
        case headers = 1
        case reset = 3
        case window = 8
    }

    private var budget = most
    /// Octets of answers that no move of a window has been set against.
    private var sent = 0
    private var lastRefill = NIODeadline.now()
    /// The octets of the connection's preface (RFC 9113 §3.4).
    private var skipped = 24
    private var head: [UInt8] = []
    private var highestStream: UInt32 = 0
    private var isOver = false
    private static let ended = Counter(label: "boxoffice_gateway_http2_floods_total")

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isOver else { return }
        let bytes = unwrapInboundIn(data)
        look(at: bytes)
        guard budget > 0 else { return end(context) }
        context.fireChannelRead(data)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        sent = min(sent + unwrapOutboundIn(data).readableBytes, Self.mostEarned * Self.worthwhile)
        context.write(data, promise: promise)
    }

    private func look(at bytes: ByteBuffer) {
        var index = bytes.readerIndex
        while index < bytes.writerIndex {
            if skipped > 0 {
                let step = min(skipped, bytes.writerIndex - index)
                skipped -= step
                index += step
                continue
            }
            let step = min(9 - head.count, bytes.writerIndex - index)
            head += bytes.viewBytes(at: index, length: step) ?? ByteBufferView(ByteBuffer())
            index += step
            guard head.count == 9 else { return }
            let length = Int(head[0]) << 16 | Int(head[1]) << 8 | Int(head[2])
            let stream = UInt32(head[5] & 0x7f) << 24 | UInt32(head[6]) << 16 | UInt32(head[7]) << 8 | UInt32(head[8])
            count(head[3], length, stream)
            head.removeAll(keepingCapacity: true)
            skipped = length
        }
    }

    private func count(_ kind: UInt8, _ length: Int, _ stream: UInt32) {
        switch Kind(rawValue: kind) {
        case .headers:
            // Trailers are no request.
            if stream > highestStream {
                highestStream = stream
                budget = min(Self.most, budget + Self.perRequest)
            } else {
                budget -= 1
            }
        case .data where length >= Self.worthwhile: break
        case .reset: budget -= Self.perReset
        case .window where sent >= Self.worthwhile: sent -= Self.worthwhile
        case .data, .window, nil: budget -= 1
        }
        if budget <= Self.most / 2 { refill() }
    }

    private func refill() {
        let passed = (NIODeadline.now() - lastRefill).nanoseconds / 1_000_000_000
        guard passed > 0 else { return }
        lastRefill = lastRefill + .seconds(passed)
        budget = min(Self.most, budget + Int(min(passed, 3600)) * Self.perSecond)
    }

    private func end(_ context: ChannelHandlerContext) {
        isOver = true
        Self.ended.increment()
        // Length 8, GOAWAY, no flags, stream 0; the last stream that was looked at; ENHANCE_YOUR_CALM.
        var goaway = context.channel.allocator.buffer(capacity: 17)
        goaway.writeBytes([0, 0, 8, 7, 0, 0, 0, 0, 0])
        goaway.writeInteger(highestStream)
        goaway.writeInteger(UInt32(0xb))
        context.writeAndFlush(wrapOutboundOut(.byteBuffer(goaway)), promise: nil)
        let channel = context.channel
        context.eventLoop.scheduleTask(in: Self.farewell) { channel.close(promise: nil) }
    }
}
