/// An opaque random handle of a pending request; 40 octets, half of what the bindings allow (mvpd §2.2).
public struct RelayState: Hashable, Sendable, CustomStringConvertible, CustomDebugStringConvertible {
    public let rawValue: String

    /// - Parameter generator: The source of randomness; outside tests `SystemRandomNumberGenerator`.
    public init(using generator: inout some RandomNumberGenerator) {
        rawValue = RandomHex.digits(octets: 20, using: &generator)
    }

    /// A handle as a browser brought it back.
    public init(rawValue: String) { self.rawValue = rawValue }

    public var description: String { "[hidden]" }
    public var debugDescription: String { description }
}
