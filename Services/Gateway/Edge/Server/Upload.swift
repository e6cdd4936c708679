internal import Hummingbird
internal import NIOCore

/// A request's body on its way from the connection to whoever reads it.
///
/// Used on the connection's event loop only.
final class Upload {
    /// Told to the connection's pipeline when a full upload has room again.
    struct Wish {}

    private typealias Bytes = NIOThrowingAsyncSequenceProducer<
        ByteBuffer, any Error, NIOAsyncSequenceProducerBackPressureStrategies.HighLowWatermark, Reader
    >

    private struct Reader: NIOAsyncSequenceProducerDelegate {
        let channel: any Channel

        func produceMore() { channel.pipeline.fireUserInboundEventTriggered(Wish()) }
        func didTerminate() { channel.pipeline.fireUserInboundEventTriggered(Wish()) }
    }

    let body: RequestBody
    private let source: Bytes.Source
    /// No more shall be added for now.
    var isFull = false

    /// - Parameter begun: The part that has arrived.
    init(_ channel: any Channel, _ begun: ByteBuffer) {
        let new = Bytes.makeSequence(
            elementType: ByteBuffer.self, failureType: (any Error).self,
            backPressureStrategy: .init(lowWatermark: 2, highWatermark: Http1Bounds.mostPieces),
            finishOnDeinit: true, delegate: Reader(channel: channel))
        source = new.source
        body = RequestBody(asyncSequence: new.sequence)
        if begun.readableBytes > 0 { add(begun) }
    }

    func add(_ bytes: ByteBuffer) {
        switch source.yield(bytes) {
        case .produceMore, .dropped: isFull = false
        case .stopProducing: isFull = true
        }
    }

    /// - Parameter error: Why the body does not end as its head said.
    func finish(_ error: (any Error)? = nil) {
        if let error { source.finish(error) } else { source.finish() }
    }
}

/// The bytes of an answer.
struct CollectedBody: ResponseBodyWriter {
    private final class Bytes {
        var buffer = ByteBuffer()
    }

    private let bytes = Bytes()

    /// Reads all of an answer's body.
    static func bytes(of response: Response) async throws -> ByteBuffer {
        if response.body.contentLength == 0 { return ByteBuffer() }
        let collected = CollectedBody()
        try await response.body.write(collected)
        return collected.bytes.buffer
    }

    func write(_ buffer: ByteBuffer) {
        if bytes.buffer.readableBytes == 0 { bytes.buffer = buffer } else { bytes.buffer.writeImmutableBuffer(buffer) }
    }

    consuming func finish(_ trailingHeaders: HTTPFields?) {}
}
