/// Reads the fields of an encoded message: only what these tests need of protobuf, and independent of the library that they test.
struct ProtobufReader: Sequence, IteratorProtocol {
    enum Value {
        case number(UInt64)
        case bytes(ArraySlice<UInt8>)
    }

    private var rest: ArraySlice<UInt8>

    init(_ bytes: ArraySlice<UInt8>) { rest = bytes }

    mutating func next() -> (field: UInt64, value: Value)? {
        guard !rest.isEmpty else { return nil }
        let tag = number()
        guard tag & 7 == 2 else { return (tag >> 3, .number(number())) }
        let count = Int(number())
        defer { rest = rest.dropFirst(count) }
        return (tag >> 3, .bytes(rest.prefix(count)))
    }

    /// All embedded messages, texts or byte strings of a field.
    static func all(_ field: UInt64, in bytes: ArraySlice<UInt8>) -> [ArraySlice<UInt8>] {
        ProtobufReader(bytes).compactMap {
            if case (field, .bytes(let value)) = $0 { return value }
            return nil
        }
    }

    /// The text of a field, empty when it is absent.
    static func text(_ field: UInt64, in bytes: ArraySlice<UInt8>) -> String {
        String(decoding: all(field, in: bytes).last ?? [], as: UTF8.self)
    }

    /// The number of a field; `nil` when it is absent.
    static func number(_ field: UInt64, in bytes: ArraySlice<UInt8>) -> UInt64? {
        var found: UInt64?
        for case (field, .number(let value)) in ProtobufReader(bytes) { found = value }
        return found
    }

    private mutating func number() -> UInt64 {
        var value: UInt64 = 0
        var shift: UInt64 = 0
        while let byte = rest.popFirst() {
            value |= UInt64(byte & 0x7f) << shift
            guard byte & 0x80 != 0 else { break }
            shift += 7
        }
        return value
    }
}
