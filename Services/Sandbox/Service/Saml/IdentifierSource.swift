/// Where message ids, session indexes and transient names come from.
public protocol IdentifierSource: Sendable {
    /// A new NCName with at least 128 random bits (SAML core §1.3.4).
    func next() -> String
}

/// Identifiers from the system's random numbers.
public struct RandomIdentifiers: IdentifierSource {
    public init() {}

    public func next() -> String {
        var generator = SystemRandomNumberGenerator()
        return "_" + Hexadecimal.text((0..<20).map { _ in UInt8.random(in: .min ... .max, using: &generator) })
    }
}
