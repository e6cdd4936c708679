internal import Octets

/// Where a value stands in a document, for people: `mvpds[2].saml.ssoUrl`.
public struct JsonPath: Sendable, Hashable, CustomStringConvertible {
    public private(set) var description: String

    /// The document itself.
    public static let root = JsonPath(description: "")

    private init(description: String) { self.description = description }

    public func appending(key: String) -> JsonPath {
        JsonPath(description: description.isEmpty ? key : "\(description).\(key)")
    }

    public func appending(index: Int) -> JsonPath { JsonPath(description: "\(description)[\(index)]") }

    init(_ codingPath: [any CodingKey]) {
        self = codingPath.reduce(.root) { path, key in
            key.intValue.map(path.appending(index:)) ?? path.appending(key: key.stringValue)
        }
    }
}
