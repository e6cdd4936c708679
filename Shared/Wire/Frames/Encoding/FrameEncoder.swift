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
    /// - Throws: `FrameRejection`; the connection must end.
    public mutating func next(_ bytes: inout UnsafeRawBufferPointer) throws(FrameRejection) -> FrameView? {
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
    public static func frameByteCount(_ bytes: UnsafeRawBufferPointer, limit: Int) throws(FrameRejection) -> Int? {
        guard bytes.count >= prefixByteCount else { return nil }
        let count = Int(UInt32(bigEndian: bytes.loadUnaligned(as: UInt32.self)))
        guard count > 0 else { throw .empty }
        guard count <= limit else { throw .tooLarge(byteCount: count, limit: limit) }
        return count
    }

    private mutating func decode(_ body: UnsafeRawBufferPointer) throws(FrameRejection) -> FrameView {
        guard let message = arena.unpack(Frame.cDescriptor, body) else { throw .malformed }
        let frame = message.assumingMemoryBound(to: Boxoffice__Wire__V1__Frame.self)
        guard let view = try FrameView(frame) else { throw .unknownKind }
        return view
    }
}

/// Fills the C structs of the frequent frames straight from the caller's arguments, without a Swift value in between.
enum FrameFields {
    typealias CFrame = Boxoffice__Wire__V1__Frame

    static func request(
        _ head: RequestHead, _ payload: UnsafeRawBufferPointer, in arena: inout ScratchArena
    ) throws(Fault) -> UnsafeMutablePointer<CFrame> {
        let request = try arena.take(Boxoffice__Wire__V1__Request.self)
        boxoffice__wire__v1__request__init(request)
        request.pointee.call_id = head.callID
        request.pointee.service = try arena.text(head.service, "service")
        request.pointee.method = try arena.text(head.method, "method")
        request.pointee.timeout_us = head.timeoutMicroseconds
        if let key = head.idempotencyKey { request.pointee.idempotency_key = try arena.text(key, "idempotency_key") }
        if let trace = head.trace {
            let parent = try arena.take(TraceContext.parentByteCount + 1)
            trace.writeParent(to: parent)
            parent.storeBytes(of: 0, toByteOffset: TraceContext.parentByteCount, as: UInt8.self)
            request.pointee.traceparent = parent.assumingMemoryBound(to: CChar.self)
            if !trace.state.isEmpty { request.pointee.tracestate = try arena.text(trace.state, "tracestate") }
        }
        request.pointee.payload = binary(payload)
        let frame = try empty(in: &arena)
        frame.pointee.kind_case = BOXOFFICE__WIRE__V1__FRAME__KIND_REQUEST
        frame.pointee.request = request
        return frame
    }

    static func response(
        _ callID: UInt64, _ payload: UnsafeRawBufferPointer, in arena: inout ScratchArena
    ) throws(Fault) -> UnsafeMutablePointer<CFrame> {
        let response = try arena.take(Boxoffice__Wire__V1__Response.self)
        boxoffice__wire__v1__response__init(response)
        response.pointee.call_id = callID
        response.pointee.outcome_case = BOXOFFICE__WIRE__V1__RESPONSE__OUTCOME_PAYLOAD
        response.pointee.payload = binary(payload)
        let frame = try empty(in: &arena)
        frame.pointee.kind_case = BOXOFFICE__WIRE__V1__FRAME__KIND_RESPONSE
        frame.pointee.response = response
        return frame
    }

    static func streamItem(
        _ callID: UInt64, _ payload: UnsafeRawBufferPointer, in arena: inout ScratchArena
    ) throws(Fault) -> UnsafeMutablePointer<CFrame> {
        let item = try arena.take(Boxoffice__Wire__V1__StreamItem.self)
        boxoffice__wire__v1__stream_item__init(item)
        item.pointee.call_id = callID
        item.pointee.payload = binary(payload)
        let frame = try empty(in: &arena)
        frame.pointee.kind_case = BOXOFFICE__WIRE__V1__FRAME__KIND_STREAM_ITEM
        frame.pointee.stream_item = item
        return frame
    }

    private static func empty(in arena: inout ScratchArena) throws(Fault) -> UnsafeMutablePointer<CFrame> {
        let frame = try arena.take(CFrame.self)
        boxoffice__wire__v1__frame__init(frame)
        return frame
    }

    /// protobuf-c only reads through the pointer when it packs.
    private static func binary(_ payload: UnsafeRawBufferPointer) -> ProtobufCBinaryData {
        let start = UnsafeMutableRawPointer(mutating: payload.baseAddress)
        return ProtobufCBinaryData(len: payload.count, data: start?.assumingMemoryBound(to: UInt8.self))
    }
}
