internal import CContracts
internal import CProtobufC
public import ContractRuntime
public import Faults

/// Encodes frames in two steps: `prepare…` says how many bytes the frame takes with its length prefix, `write` puts them into the caller's memory.
///
/// Between the two, the C structs lie in memory that the encoder keeps for the life of the connection: a frame costs no allocation. A payload
/// given as bytes must stay valid until `write`.
public struct FrameEncoder: ~Copyable {
    private enum Prepared {
        case nothing
        case fields(UnsafeMutablePointer<Boxoffice__Wire__V1__Frame>)
        case bytes(UnsafeRawBufferPointer)
    }

    /// The largest frame that the receiver accepts, in bytes without the prefix; known once its hello is in.
    public var maxFrameBytes: Int
    private var arena: ScratchArena
    private var prepared = Prepared.nothing
    private var byteCount = 0

    /// - Parameter maxFrameBytes: The largest frame that the receiver accepts, in bytes without the prefix.
    public init(maxFrameBytes: Int) {
        self.maxFrameBytes = maxFrameBytes
        arena = ScratchArena(maxFrameBytes: 64 * 1024 * 1024)
    }

    /// Any frame, from its value.
    /// - Returns: Bytes that `write` will take.
    /// - Throws: `frame_too_large` for the receiver, `invalid_message` when a text holds a NUL or the frame has no kind.
    public mutating func prepare(_ frame: Frame) throws(Fault) -> Int {
        begin()
        let bytes = try arena.serialized(frame)
        guard !bytes.isEmpty else { throw Fault(.invalidMessage, "A frame without a kind.") }
        return try keep(.bytes(bytes), bytes.count)
    }

    /// A request whose message is a value.
    /// - Throws: As `prepare(_:)`.
    public mutating func prepareRequest<Payload: Message>(_ head: RequestHead, message: Payload) throws(Fault) -> Int {
        begin()
        let payload = try arena.serialized(message)
        return try finish(FrameFields.request(head, payload, in: &arena))
    }

    /// A request whose message is encoded.
    /// - Throws: As `prepare(_:)`.
    public mutating func prepareRequest(_ head: RequestHead, payload: UnsafeRawBufferPointer) throws(Fault) -> Int {
        begin()
        return try finish(FrameFields.request(head, payload, in: &arena))
    }

    /// A good answer whose message is a value.
    /// - Throws: As `prepare(_:)`.
    public mutating func prepareResponse<Payload: Message>(callID: UInt64, message: Payload) throws(Fault) -> Int {
        begin()
        let payload = try arena.serialized(message)
        return try finish(FrameFields.response(callID, payload, in: &arena))
    }

    /// A good answer whose message is encoded.
    /// - Throws: As `prepare(_:)`.
    public mutating func prepareResponse(callID: UInt64, payload: UnsafeRawBufferPointer) throws(Fault) -> Int {
        begin()
        return try finish(FrameFields.response(callID, payload, in: &arena))
    }

    /// An item of a stream from a value.
    /// - Throws: As `prepare(_:)`.
    public mutating func prepareStreamItem<Payload: Message>(callID: UInt64, message: Payload) throws(Fault) -> Int {
        begin()
        let payload = try arena.serialized(message)
        return try finish(FrameFields.streamItem(callID, payload, in: &arena))
    }

    /// An item of a stream, encoded.
    /// - Throws: As `prepare(_:)`.
    public mutating func prepareStreamItem(callID: UInt64, payload: UnsafeRawBufferPointer) throws(Fault) -> Int {
        begin()
        return try finish(FrameFields.streamItem(callID, payload, in: &arena))
    }

    /// Writes what was prepared, once.
    /// - Parameter target: At least as many bytes as `prepare…` returned.
    /// - Returns: Bytes written; 0 when nothing was prepared.
    @discardableResult
    public mutating func write(into target: UnsafeMutableRawBufferPointer) -> Int {
        guard let start = target.baseAddress, byteCount > 0 else { return 0 }
        precondition(target.count >= byteCount, "The target is smaller than the prepared frame.")
        let prefix = FrameDecoder.prefixByteCount
        start.storeBytes(of: UInt32(byteCount - prefix).bigEndian, as: UInt32.self)
        let body = start + prefix
        switch prepared {
        case .fields(let frame): boxoffice__wire__v1__frame__pack(frame, body.assumingMemoryBound(to: UInt8.self))
        case .bytes(let bytes): UnsafeMutableRawBufferPointer(start: body, count: bytes.count).copyMemory(from: bytes)
        case .nothing: return 0
        }
        let written = byteCount
        begin()
        return written
    }

    private mutating func begin() {
        arena.reset()
        prepared = .nothing
        byteCount = 0
    }

    private mutating func finish(_ frame: UnsafeMutablePointer<Boxoffice__Wire__V1__Frame>) throws(Fault) -> Int {
        try keep(.fields(frame), boxoffice__wire__v1__frame__get_packed_size(frame))
    }

    private mutating func keep(_ frame: Prepared, _ size: Int) throws(Fault) -> Int {
        guard size <= maxFrameBytes else {
            throw Fault(.frameTooLarge, "The message takes a frame of \(size) bytes; the peer accepts \(maxFrameBytes).")
        }
        prepared = frame
        byteCount = size + FrameDecoder.prefixByteCount
        return byteCount
    }
}

extension FrameEncoder {
    /// The frame with its length prefix, for tests and for callers that do not mind an array.
    /// - Throws: As `prepare(_:)`.
    public static func encoded(_ frame: Frame, maxFrameBytes: Int = .max) throws(Fault) -> [UInt8] {
        var encoder = FrameEncoder(maxFrameBytes: maxFrameBytes)
        let size = try encoder.prepare(frame)
        var bytes = [UInt8](repeating: 0, count: size)
        bytes.withUnsafeMutableBytes { _ = encoder.write(into: $0) }
        return bytes
    }
}
