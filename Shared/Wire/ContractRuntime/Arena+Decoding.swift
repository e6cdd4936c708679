public import CProtobufC
public import Faults
#if canImport(Glibc)
internal import Glibc
#elseif canImport(Darwin)
internal import Darwin
#endif

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
