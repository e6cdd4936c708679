/// One entry of an endpoint's attribute map (mvpd §2.5).
public struct AttributeMapping: Hashable, Sendable {
    /// Values are read in one of these ways.
    public enum ValueType: Hashable, Sendable {
        case string
        case boolean
        case list
    }

    /// The attribute's `Name`; empty: the NameID.
    public var source: String
    /// The attribute's `NameFormat`; empty: any.
    public var sourceNameFormat: String
    /// The metadata key, such as `householdID`, `zip`; `maxRating.VCHIP` names one part of a key.
    public var target: String
    public var type: ValueType

    /// - Parameters:
    ///   - source: The attribute's `Name`; empty: the NameID.
    ///   - sourceNameFormat: The attribute's `NameFormat`; empty: any.
    ///   - target: The metadata key, or `key.part`.
    ///   - type: How the values are read.
    public init(source: String, sourceNameFormat: String = "", target: String, type: ValueType = .string) {
        self.source = source
        self.sourceNameFormat = sourceNameFormat
        self.target = target
        self.type = type
    }
}
