/// Message ids, session indexes and transient names.
enum RandomIdentifier {
    /// A new NCName with 160 random bits (SAML core §1.3.4).
    static func next() -> String {
        var generator = SystemRandomNumberGenerator()
        return "_" + Hexadecimal.text((0..<20).map { _ in UInt8.random(in: .min ... .max, using: &generator) })
    }
}
