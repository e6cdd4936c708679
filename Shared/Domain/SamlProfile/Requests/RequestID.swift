/// `ID` of a message of ours: an NCName of 160 random bits, never used twice (mvpd §2.2).
public struct RequestID: Hashable, Sendable, CustomStringConvertible {
    public let rawValue: String

    /// - Parameter generator: The source of randomness; outside tests `SystemRandomNumberGenerator`.
    public init(using generator: inout some RandomNumberGenerator) {
        rawValue = "_" + RandomHex.digits(octets: 20, using: &generator)
    }

    /// An ID that was made before, out of storage.
    public init(rawValue: String) { self.rawValue = rawValue }

    public var description: String { rawValue }
}
