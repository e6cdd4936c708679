/// A JSON value of a token.
enum AppleClaim: Codable, Sendable, Equatable {
    case text(String)
    case number(Int64)
    case flag(Bool)
    case list([AppleClaim])
    case object([String: AppleClaim])
    /// In an order for a token: the claim is left out.
    case null

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(String.self) {
            self = .text(value)
        } else if let value = try? container.decode(Bool.self) {
            self = .flag(value)
        } else if let value = try? container.decode(Int64.self) {
            self = .number(value)
        } else if let value = try? container.decode([AppleClaim].self) {
            self = .list(value)
        } else {
            self = .object(try container.decode([String: AppleClaim].self))
        }
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .text(let value): try container.encode(value)
        case .number(let value): try container.encode(value)
        case .flag(let value): try container.encode(value)
        case .list(let value): try container.encode(value)
        case .object(let value): try container.encode(value)
        case .null: try container.encodeNil()
        }
    }

    var text: String? { if case .text(let value) = self { value } else { nil } }
    var number: Int64? { if case .number(let value) = self { value } else { nil } }
}
