internal import Foundation
public import StrictJson

extension ContractSchema {
    /// The message that a JSON object describes (proto3 language guide, "JSON Mapping"), encoded.
    /// - Parameters:
    ///   - json: Names in lowerCamelCase or as in the contract; 64-bit numbers may be strings; bytes in base64; enum values by name or number; null
    ///     is the default.
    ///   - message: Full protobuf name.
    /// - Throws: `JsonMessageRejection` at the first value that does not fit.
    public func encode(_ json: JsonNode, as message: String) throws(JsonMessageRejection) -> [UInt8] {
        guard let schema = self.message(message) else {
            throw JsonMessageRejection(offset: json.offset, description: "the service does not describe its message \(message)")
        }
        return try MessageEncoder(schema: self, path: "").encode(json, schema)
    }
}

/// Encodes the values below one place of a JSON text.
private struct MessageEncoder {
    let schema: ContractSchema
    let path: String

    private func below(_ name: String) -> MessageEncoder { MessageEncoder(schema: schema, path: path.isEmpty ? name : "\(path).\(name)") }

    private func mismatch(_ node: JsonNode, _ what: String) -> JsonMessageRejection {
        JsonMessageRejection(offset: node.offset, description: path.isEmpty ? what : "\(path): \(what)")
    }

    func encode(_ node: JsonNode, _ message: MessageSchema) throws(JsonMessageRejection) -> [UInt8] {
        guard case .object(let members) = node.content else { throw mismatch(node, "must be an object, a \(message.name); it is \(node.kind)") }
        var writer = WireWriter()
        var seen: Set<Int> = []
        var chosen: [Int: String] = [:]
        for member in members {
            guard let field = message.field(named: member.name) else {
                let names = message.fields.map(\.jsonName).joined(separator: ", ")
                throw JsonMessageRejection(
                    offset: member.offset,
                    description: "\(below(member.name).path): \(message.name) has no such field; it has \(names.isEmpty ? "none" : names)")
            }
            guard seen.insert(field.number).inserted else {
                throw JsonMessageRejection(offset: member.offset, description: "\(below(member.name).path): is there twice")
            }
            if case .null = member.value.content { continue }
            if let oneof = field.oneof, let other = chosen.updateValue(member.name, forKey: oneof) {
                throw JsonMessageRejection(offset: member.offset, description: "\(below(member.name).path): must not be there beside \(other)")
            }
            try below(member.name).write(member.value, field, into: &writer)
        }
        return writer.bytes
    }

    private func write(_ node: JsonNode, _ field: FieldSchema, into writer: inout WireWriter) throws(JsonMessageRejection) {
        if field.isRepeated {
            if let entry = schema.message(field.typeName), entry.isMapEntry { return try write(map: node, field, entry, into: &writer) }
            guard case .array(let elements) = node.content else { throw mismatch(node, "must be an array; it is \(node.kind)") }
            if field.kind.isPackable {
                var packed = WireWriter()
                for (index, element) in elements.enumerated() { try at(index).write(value: element, field, into: &packed) }
                if !elements.isEmpty { writer.field(field.number, bytes: packed.bytes) }
                return
            }
            for (index, element) in elements.enumerated() { try at(index).writeOne(element, field, into: &writer) }
        } else {
            try writeOne(node, field, into: &writer)
        }
    }

    private func at(_ index: Int) -> MessageEncoder { MessageEncoder(schema: schema, path: "\(path)[\(index)]") }

    private func writeOne(_ node: JsonNode, _ field: FieldSchema, into writer: inout WireWriter) throws(JsonMessageRejection) {
        writer.tag(field.number, wireType: field.kind.wireType)
        try write(value: node, field, into: &writer)
    }

    /// An object with the map's keys as names.
    private func write(
        map node: JsonNode, _ field: FieldSchema, _ entry: MessageSchema, into writer: inout WireWriter
    ) throws(JsonMessageRejection) {
        guard case .object(let members) = node.content else { throw mismatch(node, "must be an object; it is \(node.kind)") }
        guard let key = entry.field(1), let value = entry.field(2) else { throw mismatch(node, "is a map that the service does not describe") }
        for member in members {
            var content = WireWriter()
            let place = below(member.name)
            if key.kind == .string {
                content.field(key.number, bytes: Array(member.name.utf8))
            } else {
                content.tag(key.number, wireType: key.kind.wireType)
                try place.write(number: member.name, member.value, key.kind, into: &content)
            }
            try place.writeOne(member.value, value, into: &content)
            writer.field(field.number, bytes: content.bytes)
        }
    }

    /// Without the field's tag.
    private func write(value node: JsonNode, _ field: FieldSchema, into writer: inout WireWriter) throws(JsonMessageRejection) {
        switch (field.kind, node.content) {
        case (.message, _):
            guard let message = schema.message(field.typeName) else { throw mismatch(node, "the service does not describe \(field.typeName)") }
            write(try encode(node, message), into: &writer)
        case (.string, .string(let text)):
            guard !text.utf8.contains(0) else { throw mismatch(node, "must not hold a NUL") }
            write(Array(text.utf8), into: &writer)
        case (.bytes, .string(let text)):
            guard let bytes = Self.base64(text) else { throw mismatch(node, "must be base64") }
            write(bytes, into: &writer)
        case (.bool, .bool(let isTrue)): writer.varint(isTrue ? 1 : 0)
        case (.enum, .string(let name)): writer.varint(UInt64(bitPattern: Int64(try number(of: name, field, node))))
        case (.string, _), (.bytes, _): throw mismatch(node, "must be a string; it is \(node.kind)")
        case (.bool, _): throw mismatch(node, "must be true or false; it is \(node.kind)")
        case (_, .number(let text)), (_, .string(let text)): try write(number: text, node, field.kind, into: &writer)
        default: throw mismatch(node, "must be a number; it is \(node.kind)")
        }
    }

    private func write(_ content: [UInt8], into writer: inout WireWriter) {
        writer.varint(UInt64(content.count))
        writer.append(content)
    }

    private func number(of name: String, _ field: FieldSchema, _ node: JsonNode) throws(JsonMessageRejection) -> Int32 {
        let values = schema.enum(field.typeName)?.values ?? []
        if let value = values.first(where: { $0.name == name }) { return value.number }
        throw mismatch(node, "'\(name)' is no value of \(field.typeName); there are \(values.map(\.name).joined(separator: ", "))")
    }

    private func write(
        number text: String, _ node: JsonNode, _ kind: FieldSchema.Kind, into writer: inout WireWriter
    ) throws(JsonMessageRejection) {
        switch kind {
        case .double: writer.fixed(try floating(text, node).bitPattern)
        case .float: writer.fixed(Float(try floating(text, node)).bitPattern)
        case .int32, .enum: writer.varint(UInt64(bitPattern: Int64(try whole(text, node) as Int32)))
        case .int64: writer.varint(UInt64(bitPattern: try whole(text, node) as Int64))
        case .uint32: writer.varint(UInt64(try whole(text, node) as UInt32))
        case .uint64: writer.varint(try whole(text, node))
        case .sint32:
            let value: Int32 = try whole(text, node)
            writer.varint(UInt64(UInt32(bitPattern: value << 1 ^ value >> 31)))
        case .sint64:
            let value: Int64 = try whole(text, node)
            writer.varint(UInt64(bitPattern: value << 1 ^ value >> 63))
        case .fixed32: writer.fixed(try whole(text, node) as UInt32)
        case .sfixed32: writer.fixed(try whole(text, node) as Int32)
        case .fixed64: writer.fixed(try whole(text, node) as UInt64)
        case .sfixed64: writer.fixed(try whole(text, node) as Int64)
        case .bool where text == "true" || text == "false": writer.varint(text == "true" ? 1 : 0)
        default: throw mismatch(node, "must be another kind of value than '\(text)'")
        }
    }

    /// `1e3` and `5.0` are whole numbers too.
    private func whole<Number: FixedWidthInteger>(_ text: String, _ node: JsonNode) throws(JsonMessageRejection) -> Number {
        if let number = Number(text) { return number }
        if text.contains(where: { ".eE".contains($0) }), let number = Double(text).flatMap({ Number(exactly: $0) }) { return number }
        throw mismatch(node, "must be a whole number from \(Number.min) to \(Number.max); it is '\(text)'")
    }

    private func floating(_ text: String, _ node: JsonNode) throws(JsonMessageRejection) -> Double {
        switch text {
        case "NaN": return .nan
        case "Infinity": return .infinity
        case "-Infinity": return -.infinity
        default:
            guard let number = Double(text), number.isFinite else { throw mismatch(node, "must be a number; it is '\(text)'") }
            return number
        }
    }

    /// Either alphabet, with or without padding.
    private static func base64(_ text: String) -> [UInt8]? {
        let plain = text.replacing("-", with: "+").replacing("_", with: "/")
        let bare = plain.prefix { $0 != "=" }
        return Data(base64Encoded: bare + String(repeating: "=", count: (4 - bare.count % 4) % 4)).map(Array.init)
    }
}
