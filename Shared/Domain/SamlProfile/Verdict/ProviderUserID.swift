/// The MVPD's own name for a person. It never appears in logs: printing it shows `[hidden]`.
public struct ProviderUserID: Hashable, Sendable, CustomStringConvertible, CustomDebugStringConvertible {
    /// The value itself; for storage and for the MVPD only.
    public let rawValue: String

    public init(_ rawValue: String) { self.rawValue = rawValue }

    public var description: String { "[hidden]" }
    public var debugDescription: String { description }
}
