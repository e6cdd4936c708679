internal import CProtobufC
internal import ContractRuntime
internal import Faults

/// Memory for the C structs of one frame at a time, kept for the life of a connection so that a frame costs no allocation.
struct ScratchArena: ~Copyable {
    /// The size that fits without touching the heap, in bytes: a call with a message of a few kilobytes.
    private static let capacity = 8 * 1024
    /// The most that one frame may take beyond that, in bytes; counts from the next `reset` on.
    var limit: Int

    private let memory = UnsafeMutableRawPointer.allocate(byteCount: capacity, alignment: 16)
    private var arena = boxoffice_arena()

    init(maxFrameBytes: Int) {
        limit = Self.limit(maxFrameBytes: maxFrameBytes)
        begin()
    }

    /// The memory that a frame may take, in bytes. One of ordinary fields takes about its own size again. One made of thousands of tiny unknown
    /// fields would take some thirty times as much, and is refused.
    static func limit(maxFrameBytes: Int) -> Int { 4 * maxFrameBytes + 64 * 1024 }

    deinit {
        var last = arena
        boxoffice_arena_end(&last)
        memory.deallocate()
    }

    /// Gives up everything that was taken.
    mutating func reset() {
        boxoffice_arena_end(&arena)
        begin()
    }

    /// - Throws: `frame_too_large` when the frame takes more memory than one frame may.
    mutating func take(_ size: Int) throws(Fault) -> UnsafeMutableRawPointer {
        guard let taken = boxoffice_arena_take(&arena, size) else {
            throw Fault(.frameTooLarge, "The frame needs more memory than one frame may take.")
        }
        return taken
    }

    /// Memory for one generated struct, not initialized.
    mutating func take<CStruct>(_ type: CStruct.Type) throws(Fault) -> UnsafeMutablePointer<CStruct> {
        try take(MemoryLayout<CStruct>.size).bindMemory(to: type, capacity: 1)
    }

    /// A C string.
    /// - Throws: `invalid_message` when the text holds a NUL: the C string would end there.
    mutating func text(_ value: String, _ field: StaticString) throws(Fault) -> UnsafeMutablePointer<CChar> {
        var value = value
        let count = value.utf8.count
        let target = try take(count + 1)
        let isClean = value.withUTF8 { source in
            if let base = source.baseAddress { target.copyMemory(from: base, byteCount: count) }
            return !source.contains(0)
        }
        guard isClean else { throw Fault(.invalidMessage, "\(field) holds a NUL.") }
        target.storeBytes(of: 0, toByteOffset: count, as: UInt8.self)
        return target.assumingMemoryBound(to: CChar.self)
    }

    /// Decodes with protobuf-c; `nil` when the bytes are no such message or need too much memory.
    mutating func unpack(_ descriptor: UnsafeRawPointer, _ bytes: UnsafeRawBufferPointer) -> UnsafeRawPointer? {
        let start = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
        let descriptor = descriptor.assumingMemoryBound(to: ProtobufCMessageDescriptor.self)
        return UnsafeRawPointer(boxoffice_arena_unpack(&arena, descriptor, start, bytes.count))
    }

    private mutating func begin() {
        boxoffice_arena_begin(&arena, memory, Self.capacity, limit)
    }
}

extension ScratchArena {
    /// The encoded message, in the arena.
    /// - Throws: `invalid_message` when a text holds a NUL, `frame_too_large` when it does not fit.
    mutating func serialized<Value: Message>(_ value: Value) throws(Fault) -> UnsafeRawBufferPointer {
        var bytes = UnsafeRawBufferPointer(start: nil, count: 0)
        try value.serialize { size in
            // Cannot fail but for a machine without memory: the runtime refused a message beyond 64 MiB before, the encoder's limit is four times that.
            guard let memory = try? take(size) else { preconditionFailure("out of memory") }
            bytes = UnsafeRawBufferPointer(start: memory, count: size)
            return memory
        }
        return bytes
    }
}
