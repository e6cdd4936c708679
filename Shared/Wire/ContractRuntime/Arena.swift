#if canImport(Glibc)
internal import Glibc
#elseif canImport(Darwin)
internal import Darwin
#endif
public import CProtobufC
public import Faults

/// Memory of the C structs of one message, released as a whole; valid only inside `Arena.with`.
public struct Arena {
    let raw: UnsafeMutablePointer<boxoffice_arena>

    /// The most that one message may take on the heap, in bytes, beyond what the thread keeps.
    static let limit = 64 * 1024 * 1024

    static func with<Result>(_ body: (Arena) throws(Fault) -> Result) throws(Fault) -> Result {
        var arena = boxoffice_arena()
        return try withUnsafeMutablePointer(to: &arena) { raw throws(Fault) in
            // `body` does not suspend: the arena ends on the thread where it began.
            boxoffice_arena_begin_on_thread(raw, limit)
            defer { boxoffice_arena_end(raw) }
            return try body(Arena(raw: raw))
        }
    }

    func take(_ size: Int) throws(Fault) -> UnsafeMutableRawPointer {
        guard let memory = boxoffice_arena_take(raw, size) else {
            throw Fault(.frameTooLarge, "The message needs more memory than one message may take.")
        }
        return memory
    }
}

/// Conversions that the generated code calls to read C fields.
public enum CField {
    /// - Throws: `invalid_message` when the text is not UTF-8 or holds a NUL.
    public static func string(_ text: UnsafeMutablePointer<CChar>?, _ field: StaticString) throws(Fault) -> String {
        guard let text, boxoffice_is_absent_string(text) == 0 else { return "" }
        // Behind its last octet there is a NUL. This way to a text is the one that the standard library has compiled.
        guard strlen(text) == boxoffice_arena_size(text) - 1, let value = String(validatingCString: text) else {
            throw Fault(.invalidMessage, "\(field) is not UTF-8 text without NUL.")
        }
        return value
    }

    public static func bytes(_ data: ProtobufCBinaryData) -> [UInt8] {
        [UInt8](UnsafeRawBufferPointer(start: data.data, count: data.len))
    }

    /// - Throws: `invalid_message` as for one string.
    public static func strings(
        _ texts: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?, _ count: Int, _ field: StaticString
    ) throws(Fault) -> [String] {
        var values: [String] = []
        values.reserveCapacity(count)
        for index in 0..<count { values.append(try string(texts?[index], field)) }
        return values
    }

    public static func byteArrays(_ items: UnsafeMutablePointer<ProtobufCBinaryData>?, _ count: Int) -> [[UInt8]] {
        guard let items else { return [] }
        return (0..<count).map { bytes(items[$0]) }
    }

    public static func scalars<Value>(_ items: UnsafeMutablePointer<Value>?, _ count: Int) -> [Value] {
        [Value](UnsafeBufferPointer(start: items, count: count))
    }

    /// - Throws: `invalid_message` from the nested message.
    public static func message<Value: Message, CStruct>(_ item: UnsafeMutablePointer<CStruct>?) throws(Fault) -> Value? {
        guard let item else { return nil }
        return try Value(cMessage: UnsafeRawPointer(item))
    }

    /// - Throws: `invalid_message` from a nested message.
    public static func messages<Value: Message, CStruct>(
        _ items: UnsafeMutablePointer<UnsafeMutablePointer<CStruct>?>?, _ count: Int
    ) throws(Fault) -> [Value] {
        var values: [Value] = []
        values.reserveCapacity(count)
        for index in 0..<count {
            if let item = items?[index] { values.append(try Value(cMessage: UnsafeRawPointer(item))) }
        }
        return values
    }
}

/// Conversions that the generated code calls to fill C fields. Empty values become what protobuf-c takes as absent.
extension Arena {
    /// - Throws: `invalid_message` when the text holds a NUL: the C string would end there.
    public func string(_ value: String, _ field: StaticString) throws(Fault) -> UnsafeMutablePointer<CChar>? {
        var value = value
        let count = value.utf8.count
        let memory = try take(count + 1)
        let isClean = value.withUTF8 { source in
            if let base = source.baseAddress { memory.copyMemory(from: base, byteCount: count) }
            return source.firstIndex(of: 0) == nil
        }
        guard isClean else { throw Fault(.invalidMessage, "\(field) holds a NUL.") }
        memory.storeBytes(of: 0, toByteOffset: count, as: UInt8.self)
        return memory.assumingMemoryBound(to: CChar.self)
    }

    /// - Throws: `frame_too_large`.
    public func bytes(_ value: [UInt8]) throws(Fault) -> ProtobufCBinaryData {
        guard !value.isEmpty else { return ProtobufCBinaryData(len: 0, data: nil) }
        let memory = try take(value.count)
        value.withUnsafeBytes { source in
            if let base = source.baseAddress { memory.copyMemory(from: base, byteCount: value.count) }
        }
        return ProtobufCBinaryData(len: value.count, data: memory.assumingMemoryBound(to: UInt8.self))
    }

    /// - Throws: As `string`.
    public func strings(
        _ values: [String], _ field: StaticString
    ) throws(Fault) -> UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? {
        guard !values.isEmpty else { return nil }
        let items = try table(of: UnsafeMutablePointer<CChar>?.self, values.count)
        for (index, value) in values.enumerated() {
            (items + index).initialize(to: try string(value, field))
        }
        return items
    }

    /// - Throws: `frame_too_large`.
    public func byteArrays(_ values: [[UInt8]]) throws(Fault) -> UnsafeMutablePointer<ProtobufCBinaryData>? {
        guard !values.isEmpty else { return nil }
        let items = try table(of: ProtobufCBinaryData.self, values.count)
        for (index, value) in values.enumerated() { (items + index).initialize(to: try bytes(value)) }
        return items
    }

    /// - Throws: `frame_too_large`.
    public func scalars<Value>(_ values: [Value]) throws(Fault) -> UnsafeMutablePointer<Value>? {
        guard !values.isEmpty else { return nil }
        let items = try table(of: Value.self, values.count)
        for (index, value) in values.enumerated() { (items + index).initialize(to: value) }
        return items
    }

    /// - Throws: From the nested message.
    public func message<Value: Message, CStruct>(_ value: Value?, as type: CStruct.Type) throws(Fault) -> UnsafeMutablePointer<CStruct>? {
        guard let value else { return nil }
        let memory = try take(Value.cSize)
        try value.fill(memory, arena: self)
        return memory.assumingMemoryBound(to: CStruct.self)
    }

    /// - Throws: From a nested message.
    public func messages<Value: Message, CStruct>(
        _ values: [Value], as type: CStruct.Type
    ) throws(Fault) -> UnsafeMutablePointer<UnsafeMutablePointer<CStruct>?>? {
        guard !values.isEmpty else { return nil }
        let items = try table(of: UnsafeMutablePointer<CStruct>?.self, values.count)
        for (index, value) in values.enumerated() { (items + index).initialize(to: try message(value, as: type)) }
        return items
    }

    private func table<Element>(of type: Element.Type, _ count: Int) throws(Fault) -> UnsafeMutablePointer<Element> {
        try take(MemoryLayout<Element>.stride * count).bindMemory(to: Element.self, capacity: count)
    }
}
