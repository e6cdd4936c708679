internal import CProtobufC
public import Faults

extension Message {
    /// The message in protobuf's own JSON form (proto3 language guide, "JSON Mapping"): names in lowerCamelCase, 64-bit numbers as texts, bytes in base64,
    /// enum values by name, fields with their default left out. For people and for programs in other languages; the wire never carries it.
    /// - Throws: `invalid_message` when a text holds a NUL, `frame_too_large` when the message needs more memory than one may take.
    public func json() throws(Fault) -> String {
        try Arena.with { arena throws(Fault) in
            let message = try arena.take(Self.cSize)
            try fill(message, arena: arena)
            var writer = JsonWriter()
            writer.write(message: UnsafeRawPointer(message))
            return writer.text
        }
    }
}

/// Walks a C struct by its descriptor.
private struct JsonWriter {
    var text = ""
    private var depth = 0

    mutating func write(message: UnsafeRawPointer) {
        let descriptor = message.assumingMemoryBound(to: ProtobufCMessage.self).pointee.descriptor.pointee
        var isEmpty = true
        text += "{"
        depth += 1
        for index in 0..<Int(descriptor.n_fields) {
            let field = descriptor.fields[index]
            guard isSet(field, in: message) else { continue }
            text += isEmpty ? "" : ","
            isEmpty = false
            newLine()
            write(text: Self.jsonName(String(cString: field.name)))
            text += ": "
            let place = message + Int(field.offset)
            if field.label == PROTOBUF_C_LABEL_REPEATED { write(list: place, field, count(field, in: message)) } else { write(value: place, field) }
        }
        depth -= 1
        if !isEmpty { newLine() }
        text += "}"
    }

    private mutating func write(list place: UnsafeRawPointer, _ field: ProtobufCFieldDescriptor, _ count: Int) {
        guard let first = place.load(as: UnsafeRawPointer?.self) else { return text += "[]" }
        text += "["
        depth += 1
        for index in 0..<count {
            text += index == 0 ? "" : ","
            newLine()
            write(value: first + index * Self.size(of: field), field)
        }
        depth -= 1
        newLine()
        text += "]"
    }

    private mutating func write(value place: UnsafeRawPointer, _ field: ProtobufCFieldDescriptor) {
        switch field.type {
        case PROTOBUF_C_TYPE_MESSAGE:
            if let message = place.load(as: UnsafeRawPointer?.self) { write(message: message) } else { text += "null" }
        case PROTOBUF_C_TYPE_STRING: write(text: place.load(as: UnsafePointer<CChar>?.self).map { String(cString: $0) } ?? "")
        case PROTOBUF_C_TYPE_BYTES:
            let bytes = place.load(as: ProtobufCBinaryData.self)
            write(text: Self.base64(UnsafeBufferPointer(start: bytes.data, count: bytes.len)))
        case PROTOBUF_C_TYPE_BOOL: text += place.load(as: protobuf_c_boolean.self) != 0 ? "true" : "false"
        case PROTOBUF_C_TYPE_ENUM: write(enum: place.load(as: Int32.self), field)
        case PROTOBUF_C_TYPE_UINT64, PROTOBUF_C_TYPE_FIXED64: write(text: "\(place.load(as: UInt64.self))")
        case PROTOBUF_C_TYPE_INT64, PROTOBUF_C_TYPE_SINT64, PROTOBUF_C_TYPE_SFIXED64: write(text: "\(place.load(as: Int64.self))")
        case PROTOBUF_C_TYPE_INT32, PROTOBUF_C_TYPE_SINT32, PROTOBUF_C_TYPE_SFIXED32: text += "\(place.load(as: Int32.self))"
        case PROTOBUF_C_TYPE_UINT32, PROTOBUF_C_TYPE_FIXED32: text += "\(place.load(as: UInt32.self))"
        case PROTOBUF_C_TYPE_DOUBLE: write(number: place.load(as: Double.self))
        default: write(number: Double(place.load(as: Float.self)))
        }
    }

    /// By name; a number that this build does not know as a number.
    private mutating func write(enum number: Int32, _ field: ProtobufCFieldDescriptor) {
        let known = field.descriptor.assumingMemoryBound(to: ProtobufCEnumDescriptor.self).pointee
        let value = (0..<Int(known.n_values)).lazy.map { known.values[$0] }.first { $0.value == number }
        if let value { write(text: String(cString: value.name)) } else { text += "\(number)" }
    }

    private mutating func write(number: Double) {
        if number.isFinite { text += "\(number)" } else { write(text: number.isNaN ? "NaN" : number > 0 ? "Infinity" : "-Infinity") }
    }

    /// RFC 8259 §7.
    private mutating func write(text value: String) {
        text += "\""
        for scalar in value.unicodeScalars {
            switch scalar {
            case "\"": text += "\\\""
            case "\\": text += "\\\\"
            case "\n": text += "\\n"
            case _ where scalar.value < 0x20:
                let digits = String(scalar.value, radix: 16)
                text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: text.unicodeScalars.append(scalar)
            }
        }
        text += "\""
    }

    private mutating func newLine() { text += "\n" + String(repeating: "  ", count: depth) }
}

extension JsonWriter {
    /// Whether the field has another value than its default, or is the one that is set of its `oneof`.
    private func isSet(_ field: ProtobufCFieldDescriptor, in message: UnsafeRawPointer) -> Bool {
        if field.label == PROTOBUF_C_LABEL_REPEATED { return count(field, in: message) > 0 }
        if field.flags & UInt32(PROTOBUF_C_FIELD_FLAG_ONEOF.rawValue) != 0 {
            return message.load(fromByteOffset: Int(field.quantifier_offset), as: UInt32.self) == field.id
        }
        let place = message + Int(field.offset)
        switch field.type {
        case PROTOBUF_C_TYPE_MESSAGE: return place.load(as: UnsafeRawPointer?.self) != nil
        case PROTOBUF_C_TYPE_STRING: return place.load(as: UnsafePointer<CChar>?.self).map { $0.pointee != 0 } ?? false
        case PROTOBUF_C_TYPE_BYTES: return place.load(as: ProtobufCBinaryData.self).len > 0
        default: return !UnsafeRawBufferPointer(start: place, count: Self.size(of: field)).allSatisfy { $0 == 0 }
        }
    }

    private func count(_ field: ProtobufCFieldDescriptor, in message: UnsafeRawPointer) -> Int {
        message.load(fromByteOffset: Int(field.quantifier_offset), as: Int.self)
    }

    /// Bytes of one value in the C struct.
    private static func size(of field: ProtobufCFieldDescriptor) -> Int {
        switch field.type {
        case PROTOBUF_C_TYPE_MESSAGE, PROTOBUF_C_TYPE_STRING: MemoryLayout<UnsafeRawPointer>.size
        case PROTOBUF_C_TYPE_BYTES: MemoryLayout<ProtobufCBinaryData>.stride
        case PROTOBUF_C_TYPE_BOOL: MemoryLayout<protobuf_c_boolean>.size
        case PROTOBUF_C_TYPE_UINT64, PROTOBUF_C_TYPE_FIXED64, PROTOBUF_C_TYPE_INT64, PROTOBUF_C_TYPE_SINT64, PROTOBUF_C_TYPE_SFIXED64,
            PROTOBUF_C_TYPE_DOUBLE:
            8
        default: 4
        }
    }

    /// `jwks_url` is `jwksUrl`.
    private static func jsonName(_ name: String) -> String {
        let words = name.split(separator: "_", omittingEmptySubsequences: false)
        return words.dropFirst().reduce(String(words.first ?? "")) { $0 + $1.prefix(1).uppercased() + $1.dropFirst() }
    }

    /// RFC 4648 §4.
    private static func base64(_ bytes: UnsafeBufferPointer<UInt8>) -> String {
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
        var digits: [UInt8] = []
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let group = (0..<3).map { start + $0 < bytes.count ? UInt32(bytes[start + $0]) : 0 }
            let bits = group[0] << 16 | group[1] << 8 | group[2]
            let present = min(3, bytes.count - start)
            digits += (0..<4).map { $0 <= present ? alphabet[Int(bits >> (18 - 6 * UInt32($0)) & 63)] : UInt8(ascii: "=") }
        }
        return String(decoding: digits, as: UTF8.self)
    }
}
