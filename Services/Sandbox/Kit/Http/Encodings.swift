internal import FoundationEssentials

/// The sandbox's own, by Foundation: what it shared with the services could not show that they are wrong.
package enum Base64 {
    /// - Returns: nil for anything but strict base64: no line breaks, no URL alphabet.
    package static func octets(_ text: String) -> [UInt8]? { Data(base64Encoded: text).map(Array.init) }

    package static func text(_ octets: [UInt8]) -> String { Data(octets).base64EncodedString() }

    /// The URL alphabet without padding (RFC 4648 §5).
    package static func urlText(_ octets: [UInt8]) -> String {
        String(text(octets).compactMap { $0 == "+" ? "-" : $0 == "/" ? "_" : $0 == "=" ? nil : $0 })
    }

    package static func urlOctets(_ text: String) -> [UInt8]? {
        let standard = String(text.map { $0 == "-" ? "+" : $0 == "_" ? "/" : $0 })
        return octets(standard + String(repeating: "=", count: (4 - standard.utf8.count % 4) % 4))
    }
}

/// Octets as small hexadecimal digits.
package enum Hexadecimal {
    package static func text(_ octets: some Sequence<UInt8>) -> String {
        octets.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    }
}

/// Message ids, session indexes and transient names.
package enum RandomIdentifier {
    /// A new NCName with 160 random bits (SAML core §1.3.4).
    package static func next() -> String {
        var generator = SystemRandomNumberGenerator()
        return "_" + Hexadecimal.text((0..<20).map { _ in UInt8.random(in: .min ... .max, using: &generator) })
    }
}
