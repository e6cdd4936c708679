import Contracts

/// An encoded sample of each message of the contracts, with every field set, made from the contracts' own descriptors.
struct SampleMessages {
    /// A field as `google.protobuf.FieldDescriptorProto` describes it.
    private struct Field {
        let number: UInt64
        let isRepeated: Bool
        let type: UInt64
        let typeName: String
        let oneof: UInt64?

        init(_ descriptor: ArraySlice<UInt8>) {
            number = ProtobufReader.number(3, in: descriptor) ?? 0
            isRepeated = ProtobufReader.number(4, in: descriptor) == 3
            type = ProtobufReader.number(5, in: descriptor) ?? 0
            typeName = String(ProtobufReader.text(6, in: descriptor).dropFirst())
            oneof = ProtobufReader.number(9, in: descriptor)
        }
    }

    /// Reading the descriptors takes a while.
    static let shared = SampleMessages()

    private let messages: [String: [Field]]

    private init() {
        var messages: [String: [Field]] = [:]
        for file in ProtobufReader.all(1, in: ContractDescriptors.fileDescriptorSet[...]) {
            for message in ProtobufReader.all(4, in: file) {
                let name = ProtobufReader.text(2, in: file) + "." + ProtobufReader.text(1, in: message)
                messages[name] = ProtobufReader.all(2, in: message).map(Field.init).sorted { $0.number < $1.number }
            }
        }
        self.messages = messages
    }

    /// Full names of all messages.
    var names: Set<String> { Set(messages.keys) }

    /// - Parameter choice: Which member of each oneof is set, counted round.
    func bytes(_ name: String, choice: Int, depth: Int = 0) -> [UInt8] {
        let fields = messages[name] ?? []
        var bytes: [UInt8] = []
        for field in fields where isChosen(field, of: fields, choice) && (field.type != Self.message || depth < 3) {
            if field.isRepeated && Self.isNumber(field) {
                let values = [1, 0, field.number + 300].flatMap(Self.varint)
                bytes += Self.tag(field.number, 2) + Self.varint(UInt64(values.count)) + values
            } else {
                for round in 0..<(field.isRepeated ? 2 : 1) { bytes += value(field, choice, depth, round) }
            }
        }
        return bytes
    }

    private static let message: UInt64 = 11

    /// int64, uint64, int32, bool, uint32, enum: all that the contracts use.
    private static func isNumber(_ field: Field) -> Bool { [3, 4, 5, 8, 13, 14].contains(field.type) }

    private func isChosen(_ field: Field, of fields: [Field], _ choice: Int) -> Bool {
        guard let oneof = field.oneof else { return true }
        let members = fields.filter { $0.oneof == oneof }
        return members[choice % members.count].number == field.number
    }

    private func value(_ field: Field, _ choice: Int, _ depth: Int, _ round: Int) -> [UInt8] {
        if field.type == 8 { return Self.tag(field.number, 0) + [1] }
        if field.type == 14 { return Self.tag(field.number, 0) + Self.varint(UInt64(1 + choice)) }
        if Self.isNumber(field) { return Self.tag(field.number, 0) + Self.varint(field.number * 1000 + 7) }
        let content: [UInt8]
        switch field.type {
        case 9: content = Array("f\(field.number)-é\(round)".utf8)
        case 12: content = [0, UInt8(truncatingIfNeeded: field.number), 0xff]
        default: content = bytes(field.typeName, choice: choice, depth: depth + 1)
        }
        return Self.tag(field.number, 2) + Self.varint(UInt64(content.count)) + content
    }

    private static func tag(_ number: UInt64, _ wireType: UInt64) -> [UInt8] { varint(number << 3 | wireType) }

    private static func varint(_ value: UInt64) -> [UInt8] {
        var rest = value
        var bytes: [UInt8] = []
        while rest > 0x7f {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        return bytes + [UInt8(truncatingIfNeeded: rest)]
    }
}
