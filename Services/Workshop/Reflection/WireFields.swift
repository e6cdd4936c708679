/// The fields of an encoded protobuf message, in their order (protobuf encoding, "Message Structure").
struct WireFields {
    struct Field {
        let number: Int
        let value: Value
    }

    enum Value {
        case varint(UInt64)
        case fixed64(UInt64)
        case bytes(ArraySlice<UInt8>)
        case fixed32(UInt32)
    }

    private var rest: ArraySlice<UInt8>

    init(_ bytes: ArraySlice<UInt8>) { rest = bytes }

    var isAtEnd: Bool { rest.isEmpty }

    /// - Throws: `MessageRejection` when the bytes are no message.
    mutating func next() throws(MessageRejection) -> Field? {
        guard !rest.isEmpty else { return nil }
        let tag = try varint()
        guard let number = Int(exactly: tag >> 3), number > 0 else { throw MessageRejection("a field has the number 0") }
        switch tag & 7 {
        case 0: return Field(number: number, value: .varint(try varint()))
        case 1: return Field(number: number, value: .fixed64(try fixed(8)))
        case 2: return Field(number: number, value: .bytes(try taken(try varint())))
        case 5: return Field(number: number, value: .fixed32(UInt32(truncatingIfNeeded: try fixed(4))))
        default: throw MessageRejection("field \(number) has the unknown wire type \(tag & 7)")
        }
    }

    mutating func varint() throws(MessageRejection) -> UInt64 {
        var value: UInt64 = 0
        for shift in stride(from: UInt64(0), to: 64, by: 7) {
            guard let byte = rest.popFirst() else { throw MessageRejection("a number is cut off") }
            value |= UInt64(byte & 0x7f) << shift
            if byte < 0x80 { return value }
        }
        throw MessageRejection("a number has more than 64 bits")
    }

    /// Little-endian.
    mutating func fixed(_ width: UInt64) throws(MessageRejection) -> UInt64 {
        try taken(width).reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }

    private mutating func taken(_ count: UInt64) throws(MessageRejection) -> ArraySlice<UInt8> {
        guard count <= rest.count else { throw MessageRejection("a field is longer than what is left of the message") }
        defer { rest = rest.dropFirst(Int(count)) }
        return rest.prefix(Int(count))
    }
}

/// Bytes that are not the message they should be.
public struct MessageRejection: Error, CustomStringConvertible {
    public let description: String

    init(_ description: String) { self.description = description }
}

/// Writes a protobuf message.
struct WireWriter {
    private(set) var bytes: [UInt8] = []

    mutating func varint(_ value: UInt64) {
        var rest = value
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(rest))
    }

    /// Little-endian.
    mutating func fixed<Number: FixedWidthInteger>(_ value: Number) {
        withUnsafeBytes(of: value.littleEndian) { bytes += $0 }
    }

    mutating func tag(_ number: Int, wireType: UInt64) { varint(UInt64(number) << 3 | wireType) }

    mutating func field(_ number: Int, bytes content: some Collection<UInt8>) {
        tag(number, wireType: 2)
        varint(UInt64(content.count))
        bytes += content
    }

    mutating func append(_ content: [UInt8]) { bytes += content }
}
