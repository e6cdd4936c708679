/// Reads `google/protobuf/descriptor.proto`; field numbers are those of that file.
struct SchemaReader {
    /// Without a limit, a description with too deeply nested messages would exhaust the stack.
    private static let deepest = 64

    private(set) var packages: Set<String> = []
    private(set) var services: [ServiceSchema] = []
    private(set) var messages: [String: MessageSchema] = [:]
    private(set) var enums: [String: EnumSchema] = [:]

    mutating func read(set: ArraySlice<UInt8>) throws(MessageRejection) {
        for file in try Fields(set).all(1) { try read(file: file) }
    }

    private mutating func read(file: ArraySlice<UInt8>) throws(MessageRejection) {
        let fields = try Fields(file)
        let package = fields.text(2)
        packages.insert(package)
        let scope = package.isEmpty ? "" : package + "."
        for message in fields.all(4) { try read(message: message, scope) }
        for content in fields.all(5) { try read(enum: content, scope) }
        for service in fields.all(6) { try read(service: service, scope) }
    }

    private mutating func read(message: ArraySlice<UInt8>, _ scope: String, depth: Int = 0) throws(MessageRejection) {
        guard depth < Self.deepest else { throw MessageRejection("messages stand in each other more than \(Self.deepest) deep") }
        let fields = try Fields(message)
        let name = scope + fields.text(1)
        for nested in fields.all(3) { try read(message: nested, name + ".", depth: depth + 1) }
        for content in fields.all(4) { try read(enum: content, name + ".") }
        var schemas: [FieldSchema] = []
        for field in fields.all(2) { schemas.append(try Self.field(field, of: name)) }
        let options = try Fields(fields.all(7).last ?? [])
        messages[name] = MessageSchema(name: name, fields: schemas, isMapEntry: options.number(7) == 1)
    }

    private static func field(_ content: ArraySlice<UInt8>, of message: String) throws(MessageRejection) -> FieldSchema {
        let fields = try Fields(content)
        let name = fields.text(1)
        guard let kind = fields.number(5).flatMap({ FieldSchema.Kind(rawValue: Int(truncatingIfNeeded: $0)) }) else {
            throw MessageRejection("\(message).\(name) has an unknown type")
        }
        let jsonName = fields.text(10)
        return FieldSchema(
            name: name, jsonName: jsonName.isEmpty ? Self.jsonName(name) : jsonName, number: Int(truncatingIfNeeded: fields.number(3) ?? 0),
            kind: kind, typeName: String(fields.text(6).drop { $0 == "." }), isRepeated: fields.number(4) == 3,
            oneof: fields.number(9).map { Int(truncatingIfNeeded: $0) })
    }

    /// `jwks_url` is `jwksUrl`.
    private static func jsonName(_ name: String) -> String {
        let words = name.split(separator: "_", omittingEmptySubsequences: false)
        return words.dropFirst().reduce(String(words.first ?? "")) { $0 + $1.prefix(1).uppercased() + $1.dropFirst() }
    }

    private mutating func read(enum content: ArraySlice<UInt8>, _ scope: String) throws(MessageRejection) {
        let fields = try Fields(content)
        var values: [(String, Int32)] = []
        for value in fields.all(2) {
            let value = try Fields(value)
            values.append((value.text(1), Int32(truncatingIfNeeded: value.number(2) ?? 0)))
        }
        enums[scope + fields.text(1)] = EnumSchema(values: values)
    }

    private mutating func read(service: ArraySlice<UInt8>, _ scope: String) throws(MessageRejection) {
        let fields = try Fields(service)
        let name = scope + fields.text(1)
        var methods: [MethodSchema] = []
        for method in fields.all(2) {
            let method = try Fields(method)
            let options = try Fields(method.all(4).last ?? [])
            func type(_ number: Int) -> String { String(method.text(number).drop { $0 == "." }) }
            methods.append(
                MethodSchema(
                    service: name, name: method.text(1), request: type(2), response: type(3), isStream: method.number(6) == 1,
                    idempotencyLevel: Int(truncatingIfNeeded: options.number(34) ?? 0)))
        }
        services.append(ServiceSchema(name: name, methods: methods))
    }

    /// The fields of one message of a descriptor.
    private struct Fields {
        private var numbers: [Int: UInt64] = [:]
        private var contents: [Int: [ArraySlice<UInt8>]] = [:]

        init(_ bytes: ArraySlice<UInt8>) throws(MessageRejection) {
            var fields = WireFields(bytes)
            while let field = try fields.next() {
                switch field.value {
                case .varint(let number): numbers[field.number] = number
                case .bytes(let content): contents[field.number, default: []].append(content)
                case .fixed64, .fixed32: break
                }
            }
        }

        func all(_ number: Int) -> [ArraySlice<UInt8>] { contents[number] ?? [] }

        func text(_ number: Int) -> String { String(decoding: contents[number]?.last ?? [], as: UTF8.self) }

        func number(_ number: Int) -> UInt64? { numbers[number] }
    }
}
