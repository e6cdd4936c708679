internal import Octets

/// A value about the session that an app may read (client-sdk §1.3, `getMetadata`).
public enum MetadataKey: Sendable, Hashable {
    /// The session ends at this time.
    case authenticationExpiry
    /// The permission for a resource ends at this time.
    case authorizationExpiry(Resource.ID)
    /// The device's id; withheld unless ``ClientEnvironment/revealsDeviceID`` is set.
    case deviceID
    /// A value of the provider about the person, for example `zip`, `householdID`, `maxRating`, `userID`, `channelID`; also `tokenSource`.
    case user(String)
}

/// The value of a ``MetadataKey``.
public struct MetadataValue: Sendable, Hashable {
    /// `nil`: there is none. Times are milliseconds since 1970, in digits.
    public let value: JSONValue?
    /// True: the value can be read by the programmer's servers only (rest-v1 §8).
    public let isEncrypted: Bool

    /// - Parameters:
    ///   - value: `nil`: there is none.
    ///   - isEncrypted: True when only the programmer's servers can read the value.
    public init(_ value: JSONValue?, isEncrypted: Bool = false) { (self.value, self.isEncrypted) = (value, isEncrypted) }

    /// The value, if it is one text.
    public var text: String? { if case .string(let text) = value { text } else { nil } }
}

/// Any JSON value.
public enum JSONValue: Sendable, Hashable, Codable {
    case null
    case bool(Bool)
    case integer(Int64)
    case number(Double)
    case string(String)
    case array([JSONValue])
    case object([String: JSONValue])

    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(String.self) {
            self = .string(value)
        } else if let value = try? container.decode(Bool.self) {
            self = .bool(value)
        } else if let value = try? container.decode(Int64.self) {
            self = .integer(value)
        } else if let value = try? container.decode(Double.self) {
            self = .number(value)
        } else if let value = try? container.decode([JSONValue].self) {
            self = .array(value)
        } else {
            self = .object(try container.decode([String: JSONValue].self))
        }
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .bool(let value): try container.encode(value)
        case .integer(let value): try container.encode(value)
        case .number(let value): try container.encode(value)
        case .string(let value): try container.encode(value)
        case .array(let value): try container.encode(value)
        case .object(let value): try container.encode(value)
        }
    }
}

extension JSONValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral {
    public init(stringLiteral value: String) { self = .string(value) }
    public init(integerLiteral value: Int64) { self = .integer(value) }
    public init(booleanLiteral value: Bool) { self = .bool(value) }
}
