/// The services and messages that a `google.protobuf.FileDescriptorSet` describes: a service's description of itself by reflection.
///
/// With it, the program can make calls with types that it was not built with.
public struct ContractSchema: Sendable {
    /// Names of the packages of its files.
    public let packages: Set<String>
    /// In the order of the files.
    public let services: [ServiceSchema]
    private let messages: [String: MessageSchema]
    private let enums: [String: EnumSchema]

    /// - Parameter bytes: The serialized set.
    /// - Throws: `MessageRejection` when the bytes are no such set.
    public init(fileDescriptorSet bytes: [UInt8]) throws(MessageRejection) {
        var reader = SchemaReader()
        try reader.read(set: bytes[...])
        packages = reader.packages
        services = reader.services
        messages = reader.messages
        enums = reader.enums
    }

    /// - Parameter name: Full protobuf name.
    func message(_ name: String) -> MessageSchema? { messages[name] }

    func `enum`(_ name: String) -> EnumSchema? { enums[name] }

    /// The methods that a text means: `Method`, `Service.Method` or `package.Service/Method`, in letters of either case.
    public func methods(named text: String) -> [MethodSchema] {
        let wanted = text.lowercased().replacing("/", with: ".")
        return services.flatMap(\.methods).filter { method in
            let full = "\(method.service).\(method.name)".lowercased()
            return full == wanted || full.hasSuffix("." + wanted)
        }
    }
}

public struct ServiceSchema: Sendable {
    /// Full protobuf name.
    public let name: String
    public let methods: [MethodSchema]
}

public struct MethodSchema: Sendable {
    /// Full protobuf name of the service.
    public let service: String
    public let name: String
    /// Full protobuf names of the messages.
    public let request: String
    public let response: String
    /// Many answers to one call.
    public let isStream: Bool
    /// Protobuf's `idempotency_level`: 0 unknown, 1 no side effects, 2 idempotent.
    public let idempotencyLevel: Int
}

struct MessageSchema: Sendable {
    let name: String
    /// In the order of the file.
    let fields: [FieldSchema]
    /// An entry of a `map`.
    let isMapEntry: Bool

    func field(_ number: Int) -> FieldSchema? { fields.first { $0.number == number } }

    /// By its JSON name, or by the name in the file; both are accepted (proto3 language guide, "JSON Mapping").
    func field(named name: String) -> FieldSchema? { fields.first { $0.jsonName == name || $0.name == name } }
}

struct FieldSchema: Sendable {
    /// `FieldDescriptorProto.Type`; groups do not exist in proto3.
    enum Kind: Int, Sendable {
        case double = 1
        case float, int64, uint64, int32, fixed64, fixed32, bool, string
        case message = 11
        case bytes, uint32, `enum`, sfixed32, sfixed64, sint32, sint64

        /// One value is written in this way: protobuf encoding, "Message Structure".
        var wireType: UInt64 {
            switch self {
            case .double, .fixed64, .sfixed64: 1
            case .string, .message, .bytes: 2
            case .float, .fixed32, .sfixed32: 5
            default: 0
            }
        }

        /// Several values may share one field.
        var isPackable: Bool { wireType != 2 }
    }

    let name: String
    let jsonName: String
    let number: Int
    let kind: Kind
    /// Full name of the message or enum; else empty.
    let typeName: String
    let isRepeated: Bool
    /// Place of its `oneof` in the message.
    let oneof: Int?
}

struct EnumSchema: Sendable {
    let values: [(name: String, number: Int32)]
}
