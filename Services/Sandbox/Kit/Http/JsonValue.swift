internal import FoundationEssentials

/// A JSON value of a token.
package enum JsonValue: Codable, Sendable, Equatable {
    case text(String)
    case number(Int64)
    case flag(Bool)
    case list([JsonValue])
    case object([String: JsonValue])
    /// In an order for a token: the claim is left out.
    case null

    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(String.self) {
            self = .text(value)
        } else if let value = try? container.decode(Bool.self) {
            self = .flag(value)
        } else if let value = try? container.decode(Int64.self) {
            self = .number(value)
        } else if let value = try? container.decode([JsonValue].self) {
            self = .list(value)
        } else {
            self = .object(try container.decode([String: JsonValue].self))
        }
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .text(let value): try container.encode(value)
        case .number(let value): try container.encode(value)
        case .flag(let value): try container.encode(value)
        case .list(let value): try container.encode(value)
        case .object(let value): try container.encode(value)
        case .null: try container.encodeNil()
        }
    }

    package var text: String? { if case .text(let value) = self { value } else { nil } }
    package var number: Int64? { if case .number(let value) = self { value } else { nil } }
}

/// A JWS in compact form, parsed but not verified yet (RFC 7515 §3.1).
package struct CompactToken: Sendable {
    package let header: [String: JsonValue]
    package let claims: [String: JsonValue]
    package let signingInput: [UInt8]
    package let signature: [UInt8]

    /// - Returns: nil unless the text has three parts in base64url and the first two are JSON objects.
    package init?(_ text: String) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, text.utf8.allSatisfy({ $0 == UInt8(ascii: ".") || Self.isURLAlphabet($0) }),
            let header = Self.object(parts[0]), let claims = Self.object(parts[1]), let signature = Base64.urlOctets(String(parts[2]))
        else { return nil }
        (self.header, self.claims, self.signature) = (header, claims, signature)
        signingInput = Array("\(parts[0]).\(parts[1])".utf8)
    }

    private static func object(_ part: Substring) -> [String: JsonValue]? {
        guard let octets = Base64.urlOctets(String(part)) else { return nil }
        return try? JSONDecoder().decode([String: JsonValue].self, from: Data(octets))
    }

    private static func isURLAlphabet(_ octet: UInt8) -> Bool {
        switch octet {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
        default: octet == UInt8(ascii: "-") || octet == UInt8(ascii: "_")
        }
    }
}

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
