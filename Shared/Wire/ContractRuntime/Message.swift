internal import CProtobufC
public import Faults

/// A value of the contracts: encoded and decoded by protobuf-c, with generated conversions to and from its C structs.
public protocol Message: Hashable, Sendable {
    /// Full protobuf name, for example `boxoffice.config.v1.Mvpd`.
    static var messageName: String { get }
    /// The generated `ProtobufCMessageDescriptor`.
    static var cDescriptor: UnsafeRawPointer { get }
    /// Size of the generated C struct, in bytes.
    static var cSize: Int { get }

    init()
    /// Copies out of the C struct.
    /// - Throws: `invalid_message` when a text is not UTF-8 or holds a NUL.
    init(cMessage: UnsafeRawPointer) throws(Fault)
    /// Fills a C struct whose memory is not initialized; what it points to lives in the arena.
    /// - Throws: `invalid_message` when a text holds a NUL, `frame_too_large` when the arena is full.
    func fill(_ cMessage: UnsafeMutableRawPointer, arena: Arena) throws(Fault)
}

extension Message {
    /// - Throws: `invalid_message` when the bytes are not this message, or a text is not UTF-8 or holds a NUL.
    public init(serialized bytes: UnsafeRawBufferPointer) throws(Fault) {
        self = try Arena.with { arena throws(Fault) in
            let start = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
            let descriptor = Self.cDescriptor.assumingMemoryBound(to: ProtobufCMessageDescriptor.self)
            guard let message = boxoffice_arena_unpack(arena.raw, descriptor, start, bytes.count) else {
                throw Fault(.invalidMessage, "The bytes are no \(Self.messageName).")
            }
            return try Self(cMessage: UnsafeRawPointer(message))
        }
    }

    /// - Throws: As the initializer from raw bytes.
    public init(serialized bytes: [UInt8]) throws(Fault) {
        let decoded = bytes.withUnsafeBytes { raw -> Result<Self, Fault> in
            do throws(Fault) { return .success(try Self(serialized: raw)) } catch { return .failure(error) }
        }
        self = try decoded.get()
    }

    /// Encodes into memory that the caller provides once the size is known.
    /// - Parameter reserve: Gets the size in bytes, returns memory of at least that size.
    /// - Returns: The size.
    /// - Throws: `invalid_message` when a text holds a NUL.
    @discardableResult
    public func serialize(into reserve: (Int) -> UnsafeMutableRawPointer) throws(Fault) -> Int {
        try Arena.with { arena throws(Fault) in
            let message = try arena.take(Self.cSize)
            try fill(message, arena: arena)
            let base = message.assumingMemoryBound(to: ProtobufCMessage.self)
            let size = protobuf_c_message_get_packed_size(base)
            if size > 0 {
                protobuf_c_message_pack(base, reserve(size).assumingMemoryBound(to: UInt8.self))
            }
            return size
        }
    }

    /// - Throws: `invalid_message` when a text holds a NUL.
    public func serialized() throws(Fault) -> [UInt8] {
        try Arena.with { arena throws(Fault) in
            let message = try arena.take(Self.cSize)
            try fill(message, arena: arena)
            let base = message.assumingMemoryBound(to: ProtobufCMessage.self)
            let size = protobuf_c_message_get_packed_size(base)
            return [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
                count = size == 0 ? 0 : buffer.baseAddress.map { protobuf_c_message_pack(base, $0) } ?? 0
            }
        }
    }
}

/// Sends calls to a peer; the generated clients stand on it.
public protocol RpcCaller: Sendable {
    /// Sends an encoded request.
    /// - Returns: The encoded answer.
    /// - Throws: The callee's own fault, or one of the wire (`unavailable`, `overloaded`, `deadline_exceeded`, ...).
    func call(_ method: MethodIdentity, request: [UInt8], context: CallContext) async throws(Fault) -> [UInt8]

    /// - Throws: `Fault` when the call cannot be sent; the stream throws one when it breaks later.
    func stream<Request: Message, Item: Message>(
        _ method: StreamMethod<Request, Item>, _ request: Request, context: CallContext
    ) async throws -> AsyncThrowingStream<Item, any Error>
}

extension RpcCaller {
    // Messages are encoded and decoded where their types are known: what lies behind `call` is compiled once, for bytes.

    /// - Throws: As the call with bytes; `invalid_message` when the request or the answer cannot be encoded or decoded.
    @inline(__always)
    public func call<Request: Message, Response: Message>(
        _ method: UnaryMethod<Request, Response>, _ request: Request, context: CallContext
    ) async throws(Fault) -> Response {
        let answer = try await call(method.identity, request: request.serialized(), context: context)
        return try Response(serialized: answer)
    }
}

/// A server answers a method with one answer in this way, without the types of its messages.
public struct UnaryOperation: Sendable {
    /// Does the work of one call.
    /// - Returns: The encoded answer.
    public typealias Work = @Sendable (CallContext) async throws -> [UInt8]

    public let method: MethodIdentity
    /// Decodes a request, whose bytes are valid during the call only.
    public let begin: @Sendable (_ request: UnsafeRawBufferPointer) throws(Fault) -> Work

    public init<Request: Message, Response: Message>(
        _ method: UnaryMethod<Request, Response>, _ operation: @escaping @Sendable (Request, CallContext) async throws -> Response
    ) {
        self.method = method.identity
        begin = { bytes throws(Fault) in
            let request = try Request(serialized: bytes)
            return { context in try await operation(request, context).serialized() }
        }
    }

    private init(method: MethodIdentity, begin: @escaping @Sendable (UnsafeRawBufferPointer) throws(Fault) -> Work) {
        self.method = method
        self.begin = begin
    }

    /// The same operation, with something before the work of each call.
    /// - Parameter step: May wait; when it throws, the work is not begun and the call fails with what it threw.
    public func preceded(by step: @escaping @Sendable (CallContext) async throws -> Void) -> UnaryOperation {
        UnaryOperation(method: method) { [begin] bytes throws(Fault) in
            let work = try begin(bytes)
            return { context in
                try await step(context)
                return try await work(context)
            }
        }
    }
}
