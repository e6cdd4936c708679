import GRPCCore

/// The few fields of protobuf that the calls have, written by hand: less work than any general library does.
struct ProtobufFields {
    private(set) var bytes: [UInt8] = []

    init() {}

    mutating func add(_ field: UInt8, _ content: [UInt8]) {
        guard !content.isEmpty else { return }
        bytes.append(field << 3 | 2)
        add(varint: UInt64(content.count))
        bytes += content
    }

    mutating func add(_ field: UInt8, _ number: Int64) {
        guard number != 0 else { return }
        bytes.append(field << 3)
        add(varint: UInt64(bitPattern: number))
    }

    private mutating func add(varint: UInt64) {
        var rest = varint
        while rest >= 0x80 {
            bytes.append(UInt8(rest & 0x7f) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(rest))
    }

    /// Calls back for every field: with content for one of bytes, with a number for one of varints.
    static func read(_ input: UnsafeRawBufferPointer, _ take: (UInt64, UnsafeRawBufferPointer, UInt64) -> Void) throws {
        var position = 0
        func varint() throws -> UInt64 {
            var (value, shift): (UInt64, UInt64) = (0, 0)
            while position < input.count, shift < 64 {
                let byte = input[position]
                position += 1
                value |= UInt64(byte & 0x7f) << shift
                if byte < 0x80 { return value }
                shift += 7
            }
            throw RPCError(code: .invalidArgument, message: "a number is cut short")
        }
        let none = UnsafeRawBufferPointer(start: nil, count: 0)
        while position < input.count {
            let tag = try varint()
            switch tag & 7 {
            case 0: take(tag >> 3, none, try varint())
            case 2:
                let count = try varint()
                guard count <= UInt64(input.count - position) else { throw RPCError(code: .invalidArgument, message: "a field is cut short") }
                take(tag >> 3, UnsafeRawBufferPointer(rebasing: input[position..<position + Int(count)]), 0)
                position += Int(count)
            default: throw RPCError(code: .invalidArgument, message: "a field of an unknown kind")
            }
        }
    }
}
