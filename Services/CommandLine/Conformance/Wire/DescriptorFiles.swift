/// The packages of a serialized `google.protobuf.FileDescriptorSet`: its field 1 are files, whose field 2 is the package.
struct DescriptorFiles {
    let packages: Set<String>

    /// - Throws: `Unmet` when the bytes are no such message.
    init(_ bytes: [UInt8]) throws {
        packages = Set(
            try Self.texts(bytes, field: 1).map { file in
                String(decoding: try Self.texts(Array(file), field: 2).last ?? [], as: UTF8.self)
            })
    }

    /// Contents of the length-delimited fields of that number.
    private static func texts(_ bytes: [UInt8], field: UInt64) throws -> [ArraySlice<UInt8>] {
        var rest = bytes[...]
        var found: [ArraySlice<UInt8>] = []
        while !rest.isEmpty {
            let tag = try number(&rest)
            switch tag & 7 {
            case 0: _ = try number(&rest)
            case 1: rest = rest.dropFirst(8)
            case 2:
                let length = try number(&rest)
                guard length <= rest.count else { throw malformed }
                if tag >> 3 == field { found.append(rest.prefix(Int(length))) }
                rest = rest.dropFirst(Int(length))
            case 5: rest = rest.dropFirst(4)
            default: throw malformed
            }
        }
        return found
    }

    private static func number(_ rest: inout ArraySlice<UInt8>) throws -> UInt64 {
        var value: UInt64 = 0
        for shift in stride(from: UInt64(0), to: 64, by: 7) {
            guard let byte = rest.popFirst() else { throw malformed }
            value |= UInt64(byte & 0x7f) << shift
            if byte < 0x80 { return value }
        }
        throw malformed
    }

    private static var malformed: Unmet { Unmet("a serialized google.protobuf.FileDescriptorSet", came: "bytes that are none") }
}
