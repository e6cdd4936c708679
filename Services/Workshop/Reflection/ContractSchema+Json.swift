internal import Foundation
internal import StrictJson

extension ContractSchema {
    /// An encoded message in protobuf's JSON form, indented; what is not there, and what the schema does not know, is left out.
    /// - Parameter message: Full protobuf name.
    /// - Throws: `MessageRejection` when the bytes are no such message.
    public func json(_ bytes: [UInt8], of message: String) throws(MessageRejection) -> String {
        guard let schema = self.message(message) else { throw MessageRejection("the service does not describe its message \(message)") }
        return try JsonRendering(schema: self, depth: 0).text(of: bytes[...], schema)
    }

    /// A request with every field, to be filled in: empty texts, zeros, the first name of an enum, one element in each list.
    /// - Parameter message: Full protobuf name.
    public func skeleton(of message: String) -> String {
        self.message(message).map { JsonRendering(schema: self, depth: 0).skeleton(of: $0, within: []) } ?? "{}"
    }
}

/// Writes the values at one depth of indentation.
private struct JsonRendering {
    /// A message that holds itself would have no end; nothing of ours is nested deeper.
    private static let deepest = 64

    let schema: ContractSchema
    let depth: Int

    private var inner: JsonRendering { JsonRendering(schema: schema, depth: depth + 1) }
    private var indentation: String { String(repeating: "  ", count: depth) }

    func text(of bytes: ArraySlice<UInt8>, _ message: MessageSchema) throws(MessageRejection) -> String {
        guard depth < Self.deepest else { throw MessageRejection("\(message.name) is nested more than \(Self.deepest) deep") }
        var found: [Int: [WireFields.Value]] = [:]
        var fields = WireFields(bytes)
        while let field = try fields.next() { found[field.number, default: []].append(field.value) }
        var members: [String] = []
        for field in message.fields {
            guard let values = found[field.number] else { continue }
            members.append("\(JsonWriter.quoted(field.jsonName)): \(try inner.text(of: values, field))")
        }
        return joined(members, "{", "}")
    }

    private func joined(_ parts: [String], _ open: String, _ close: String) -> String {
        parts.isEmpty ? open + close : "\(open)\n\(parts.map { inner.indentation + $0 }.joined(separator: ",\n"))\n\(indentation)\(close)"
    }

    private func text(of values: [WireFields.Value], _ field: FieldSchema) throws(MessageRejection) -> String {
        guard field.isRepeated else {
            if field.kind == .message {
                // When there are several, later ones complete earlier ones (protobuf encoding, "Last One Wins").
                var whole: [UInt8] = []
                for value in values { whole += try Self.content(value, field) }
                return try text(of: .bytes(whole[...]), field)
            }
            return try values.last.map { value throws(MessageRejection) in try text(of: value, field) } ?? "null"
        }
        if let entry = schema.message(field.typeName), entry.isMapEntry { return try text(ofMap: values, field, entry) }
        var elements: [String] = []
        for value in values {
            if case .bytes(let packed) = value, field.kind.isPackable {
                var rest = WireFields(packed)
                while !rest.isAtEnd { elements.append(try inner.text(of: try Self.next(&rest, field), field)) }
            } else {
                elements.append(try inner.text(of: value, field))
            }
        }
        return joined(elements, "[", "]")
    }

    private func text(ofMap values: [WireFields.Value], _ field: FieldSchema, _ entry: MessageSchema) throws(MessageRejection) -> String {
        var members: [String] = []
        for value in values {
            var parts: [Int: WireFields.Value] = [:]
            var fields = WireFields(try Self.content(value, field))
            while let part = try fields.next() { parts[part.number] = part.value }
            var texts: [String] = []
            for part in [entry.field(1), entry.field(2)] {
                guard let part else { throw MessageRejection("\(entry.name) is no map entry") }
                texts.append(try parts[part.number].map { value throws(MessageRejection) in try inner.text(of: value, part) } ?? Self.absent(part))
            }
            members.append("\(texts[0].hasPrefix("\"") ? texts[0] : "\"\(texts[0])\""): \(texts[1])")
        }
        return joined(members, "{", "}")
    }

    private static func absent(_ field: FieldSchema) -> String {
        switch field.kind {
        case .string, .bytes: "\"\""
        case .message: "{}"
        case .bool: "false"
        default: "0"
        }
    }

    /// The next of several values in one field.
    private static func next(_ rest: inout WireFields, _ field: FieldSchema) throws(MessageRejection) -> WireFields.Value {
        switch field.kind.wireType {
        case 0: .varint(try rest.varint())
        case 1: .fixed64(try rest.fixed(8))
        default: .fixed32(UInt32(truncatingIfNeeded: try rest.fixed(4)))
        }
    }

    private static func content(_ value: WireFields.Value, _ field: FieldSchema) throws(MessageRejection) -> ArraySlice<UInt8> {
        guard case .bytes(let content) = value else { throw MessageRejection("\(field.name) has another type than its contract says") }
        return content
    }

    private func text(of value: WireFields.Value, _ field: FieldSchema) throws(MessageRejection) -> String {
        switch (field.kind, value) {
        case (.message, .bytes(let bytes)):
            guard let message = schema.message(field.typeName) else { throw MessageRejection("the service does not describe \(field.typeName)") }
            return try text(of: bytes, message)
        case (.string, .bytes(let bytes)):
            guard let text = String(validating: bytes, as: UTF8.self) else { throw MessageRejection("\(field.name) is not UTF-8") }
            return JsonWriter.quoted(text)
        case (.bytes, .bytes(let bytes)): return JsonWriter.quoted(Data(bytes).base64EncodedString())
        case (.bool, .varint(let number)): return number == 0 ? "false" : "true"
        case (.enum, .varint(let number)): return name(of: Int32(truncatingIfNeeded: number), field)
        case (.int32, .varint(let number)): return "\(Int32(truncatingIfNeeded: number))"
        case (.uint32, .varint(let number)): return "\(UInt32(truncatingIfNeeded: number))"
        case (.sint32, .varint(let number)): return "\(Self.unzigzagged(number & 0xffff_ffff))"
        case (.int64, .varint(let number)): return "\"\(Int64(bitPattern: number))\""
        case (.uint64, .varint(let number)), (.fixed64, .fixed64(let number)): return "\"\(number)\""
        case (.sint64, .varint(let number)): return "\"\(Self.unzigzagged(number))\""
        case (.sfixed64, .fixed64(let number)): return "\"\(Int64(bitPattern: number))\""
        case (.double, .fixed64(let number)): return Self.text(ofNumber: Double(bitPattern: number))
        case (.fixed32, .fixed32(let number)): return "\(number)"
        case (.sfixed32, .fixed32(let number)): return "\(Int32(bitPattern: number))"
        case (.float, .fixed32(let number)): return Self.text(ofNumber: Double(Float(bitPattern: number)))
        default: throw MessageRejection("\(field.name) has another type than its contract says")
        }
    }

    private static func unzigzagged(_ number: UInt64) -> Int64 { Int64(bitPattern: number >> 1) ^ -Int64(bitPattern: number & 1) }

    private static func text(ofNumber number: Double) -> String {
        number.isFinite ? "\(number)" : number.isNaN ? "\"NaN\"" : number > 0 ? "\"Infinity\"" : "\"-Infinity\""
    }

    /// By name; a number that the schema does not know as a number.
    private func name(of number: Int32, _ field: FieldSchema) -> String {
        schema.enum(field.typeName)?.values.first { $0.number == number }.map { JsonWriter.quoted($0.name) } ?? "\(number)"
    }

    // MARK: Skeletons

    func skeleton(of message: MessageSchema, within outer: [String]) -> String {
        // A message within itself is left out, and so are the later ones of a `oneof`.
        guard !outer.contains(message.name) else { return "{}" }
        var chosen: Set<Int> = []
        let members = message.fields.filter { field in field.oneof.map { chosen.insert($0).inserted } ?? true }.map { field in
            "\(JsonWriter.quoted(field.jsonName)): \(inner.skeleton(of: field, within: outer + [message.name]))"
        }
        return joined(members, "{", "}")
    }

    private func skeleton(of field: FieldSchema, within outer: [String]) -> String {
        if let entry = schema.message(field.typeName), entry.isMapEntry { return "{}" }
        guard field.isRepeated else { return value(of: field, within: outer) }
        return joined([inner.value(of: field, within: outer)], "[", "]")
    }

    private func value(of field: FieldSchema, within outer: [String]) -> String {
        switch field.kind {
        case .message: schema.message(field.typeName).map { skeleton(of: $0, within: outer) } ?? "{}"
        case .enum: (schema.enum(field.typeName)?.values.first).map { JsonWriter.quoted($0.name) } ?? "0"
        case .int64, .uint64, .fixed64, .sfixed64, .sint64: "\"0\""
        default: Self.absent(field)
        }
    }
}
