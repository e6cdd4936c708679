internal import CContracts
internal import CProtobufC
internal import Faults

/// Finds frames in the bytes of a connection and decodes them, one at a time.
///
/// It keeps no bytes: the caller presents an unfinished frame again with more behind it. The length prefix is judged as soon as its four bytes are
/// there. So a caller that stops at the first error never holds more than one frame within the limit plus one read.
public struct FrameDecoder: ~Copyable {
    /// Bytes of the length prefix.
    public static let prefixByteCount = 4

    /// The largest frame that is accepted, in bytes without the prefix. It may change from one frame to the next: little is accepted from a peer that has not
    /// said hello.
    public var maxFrameBytes: Int {
        didSet { arena.limit = ScratchArena.limit(maxFrameBytes: maxFrameBytes) }
    }
    private var arena: ScratchArena

    /// - Parameter maxFrameBytes: The largest frame that is accepted, in bytes without the prefix.
    public init(maxFrameBytes: Int) {
        self.maxFrameBytes = maxFrameBytes
        arena = ScratchArena(maxFrameBytes: maxFrameBytes)
    }

    /// Takes the next whole frame off the front of `bytes`.
    /// - Parameter bytes: The bytes that came and are not yet decoded; on return without the frame.
    /// - Returns: The frame, valid until the next call of `next` and not longer; `nil` when no whole frame is there.
    /// - Throws: `FrameViolation`; the connection must end.
    public mutating func next(_ bytes: inout UnsafeRawBufferPointer) throws(FrameViolation) -> FrameView? {
        arena.reset()
        guard let count = try Self.frameByteCount(bytes, limit: maxFrameBytes), bytes.count - Self.prefixByteCount >= count else { return nil }
        let end = Self.prefixByteCount + count
        let body = UnsafeRawBufferPointer(rebasing: bytes[Self.prefixByteCount..<end])
        bytes = UnsafeRawBufferPointer(rebasing: bytes[end...])
        return try decode(body)
    }

    /// The length that the prefix at the front says, in bytes without the prefix.
    /// - Returns: `nil` when the prefix is not whole.
    /// - Throws: `empty`, `tooLarge`.
    public static func frameByteCount(_ bytes: UnsafeRawBufferPointer, limit: Int) throws(FrameViolation) -> Int? {
        guard bytes.count >= prefixByteCount else { return nil }
        let count = Int(UInt32(bigEndian: bytes.loadUnaligned(as: UInt32.self)))
        guard count > 0 else { throw .empty }
        guard count <= limit else { throw .tooLarge(byteCount: count, limit: limit) }
        return count
    }

    private mutating func decode(_ body: UnsafeRawBufferPointer) throws(FrameViolation) -> FrameView {
        guard let message = arena.unpack(Frame.cDescriptor, body) else { throw .malformed }
        let frame = message.assumingMemoryBound(to: Boxoffice__Wire__V1__Frame.self)
        guard let view = try FrameView(frame) else { throw .unknownKind }
        return view
    }
}
