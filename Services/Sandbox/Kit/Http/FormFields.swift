/// The pairs of a query or a form, with the values as received beside the decoded ones: signatures cover the former.
///
/// The sandbox reads and writes them by itself: what it shared with the services could not show that they are wrong.
package struct FormFields: Sendable {
    private let pairs: [(name: String, value: String)]

    package init(encoded text: String) {
        pairs = text.split(separator: "&").map { pair in
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            return (Self.decoded(parts[0]) ?? String(parts[0]), parts.count > 1 ? String(parts[1]) : "")
        }
    }

    /// The decoded names in their order.
    package var names: [String] { pairs.map(\.name) }

    /// All values of a name, still encoded.
    package func raw(_ name: String) -> [String] { pairs.filter { $0.name == name }.map(\.value) }

    /// The decoded value of a name that may occur once at most.
    package func single(_ name: String) throws(RequestRejection) -> String? {
        let values = raw(name)
        guard let value = values.first else { return nil }
        guard values.count == 1, let text = Self.decoded(value) else {
            throw RequestRejection("bind.params", "\(name) is there twice, or is not encoded properly.")
        }
        return text
    }

    /// All but the unreserved characters (RFC 3986 §2.3) as `%XX`.
    package static func encoded(_ text: String) -> String {
        text.utf8.map { octet in
            switch octet {
            case 0x30...0x39, 0x41...0x5a, 0x61...0x7a, 0x2d, 0x2e, 0x5f, 0x7e: String(UnicodeScalar(octet))
            default: "%" + Hexadecimal.text([octet]).uppercased()
            }
        }.joined()
    }

    /// The text of `%XX`; a plus sign is one.
    /// - Returns: nil when it is not encoded properly, or no UTF-8.
    package static func percentDecoded(_ text: some StringProtocol) -> String? { decoded(text, plusIsBlank: false) }

    private static func decoded(_ text: some StringProtocol, plusIsBlank: Bool = true) -> String? {
        var octets: [UInt8] = []
        var rest = text.utf8[...]
        while let octet = rest.popFirst() {
            switch octet {
            case UInt8(ascii: "+") where plusIsBlank: octets.append(UInt8(ascii: " "))
            case UInt8(ascii: "%"):
                guard let high = rest.popFirst().flatMap(digit), let low = rest.popFirst().flatMap(digit) else { return nil }
                octets.append(high << 4 | low)
            default: octets.append(octet)
            }
        }
        return String(validating: octets, as: UTF8.self)
    }

    private static func digit(_ octet: UInt8) -> UInt8? {
        Character(UnicodeScalar(octet)).hexDigitValue.map(UInt8.init)
    }
}

/// A request that is answered with an error page, because no trusted address is known for a SAML answer.
package struct RequestRejection: Error, Equatable {
    /// The reason code, in the words of mvpd §2.3 where one fits.
    package let code: String
    /// The finding, for the integration engineer who reads the page.
    package let explanation: String

    package init(_ code: String, _ explanation: String) {
        self.code = code
        self.explanation = explanation
    }
}
