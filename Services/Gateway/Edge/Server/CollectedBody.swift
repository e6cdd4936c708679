internal import Hummingbird
internal import NIOCore

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
