/// A metadata key and its value, mapped from what the MVPD sent. Printing it does not show the value.
public struct MappedAttribute: Hashable, Sendable {
    /// The value by its type.
    public enum Value: Hashable, Sendable {
        case string(String)
        case boolean(Bool)
        case list([String])
        /// The parts of a key such as `maxRating` (`MPAA`, `VCHIP`, `URL`).
        case object([String: String])
    }

    public let key: String
    public let value: Value

    public init(key: String, value: Value) {
        self.key = key
        self.value = value
    }
}

extension MappedAttribute: CustomStringConvertible, CustomDebugStringConvertible {
    public var description: String { "\(key): [hidden]" }
    public var debugDescription: String { description }
}
