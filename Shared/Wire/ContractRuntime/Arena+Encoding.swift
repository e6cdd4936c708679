public import CProtobufC
public import Faults

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
