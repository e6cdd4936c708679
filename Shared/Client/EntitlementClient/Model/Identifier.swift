internal import Octets

/// An id with the kind of its subject, so that two kinds of ids cannot be mixed up.
public struct Identifier<Subject>: RawRepresentable, Hashable, Sendable, Codable, ExpressibleByStringLiteral, CustomStringConvertible {
    /// The id as the server writes it; letter case counts.
    public let rawValue: String

    /// Takes any text: only the server knows whether the id exists.
    public init(rawValue: String) { self.rawValue = rawValue }
    public init(_ text: String) { rawValue = text }
    public init(stringLiteral value: String) { rawValue = value }

    public init(from decoder: any Decoder) throws { rawValue = try decoder.singleValueContainer().decode(String.self) }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(rawValue)
    }

    public var description: String { rawValue }
}

/// A channel or brand (service provider) for which people sign in.
public enum Requestor {
    /// For example `ACME1`.
    public typealias ID = Identifier<Requestor>
}

/// Something that a person may be permitted to watch.
public enum Resource {
    /// A channel's name, or a text in Media RSS (rest-v1 §1).
    public typealias ID = Identifier<Resource>
}
