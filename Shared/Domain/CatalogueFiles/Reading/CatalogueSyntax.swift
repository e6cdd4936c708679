/// The rules for the words of a catalogue.
package enum CatalogueSyntax {
    /// mvpd §2.3, 14.
    static let signatureAlgorithms: Set<String> = Set(
        ["rsa", "ecdsa"].flatMap { key in ["256", "384", "512"].map { "http://www.w3.org/2001/04/xmldsig-more#\(key)-sha\($0)" } })

    /// mvpd §1.2: `^[A-Za-z0-9][A-Za-z0-9_-]{0,127}$`.
    package static func isID(_ text: String) -> Bool {
        guard (1...128).contains(text.utf8.count), let first = text.utf8.first, isLetterOrDigit(first) else { return false }
        return text.utf8.allSatisfy { isLetterOrDigit($0) || $0 == UInt8(ascii: "_") || $0 == UInt8(ascii: "-") }
    }

    /// `#rrggbb`.
    static func isColor(_ text: String) -> Bool {
        text.utf8.count == 7 && text.utf8.first == UInt8(ascii: "#")
            && text.utf8.dropFirst().allSatisfy { (0x30...0x39).contains($0) || (0x41...0x46).contains($0) || (0x61...0x66).contains($0) }
    }

    /// The fault of a domain; `nil` when it is good. It must be a host name of at least two labels, lower case (RFC 1123 §2.1). It must be no
    /// address, and not one under which anybody can register (dashboard §2).
    static func domainProblem(_ text: String) -> String? {
        let labels = text.split(separator: ".", omittingEmptySubsequences: false)
        guard text.utf8.count <= 253, labels.count >= 2, labels.allSatisfy(isLabel), labels.last?.utf8.contains(where: isLetter) == true else {
            return "must be a domain name in lower case, for example 'acme.example'; it is '\(text)'"
        }
        if labels.count == 2, labels[1].utf8.count == 2, registries.contains(labels[0]) {
            return "must be a domain of somebody; everybody registers under '\(text)'"
        }
        return nil
    }

    /// Second levels under which countries have names registered.
    private static let registries: Set<Substring> = ["ac", "co", "com", "edu", "gov", "net", "org"]

    /// `userID`, or with one more level `maxRating.VCHIP` (mvpd §2.5).
    static func isMetadataKey(_ text: String) -> Bool {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        return (1...2).contains(parts.count)
            && parts.allSatisfy { part in
                guard let first = part.utf8.first, isLetter(first), part.utf8.count <= 64 else { return false }
                return part.utf8.allSatisfy { isLetterOrDigit($0) || $0 == UInt8(ascii: "_") }
            }
    }

    /// rest-v1 §3.1, dashboard §2: a generated `adbe.…` scheme, 128 bits in base64url.
    static func isCustomScheme(_ text: String) -> Bool {
        let name = text.dropFirst("adbe.".count)
        return text.hasPrefix("adbe.") && name.utf8.count == 22 && name.utf8.allSatisfy(isBase64URL)
    }

    /// RFC 6749 §3.3: printable ASCII without space, quotation mark and backslash.
    static func isScope(_ text: String) -> Bool {
        (1...128).contains(text.utf8.count) && text.utf8.allSatisfy { (0x21...0x7e).contains($0) && $0 != 0x22 && $0 != 0x5c }
    }

    /// The parameters of an authorization request that are never left to a record (mvpd §3).
    static let authorizationParameters: Set<String> = [
        "response_type", "client_id", "redirect_uri", "scope", "state", "nonce", "code_challenge", "code_challenge_method",
    ]

    /// Ids of teams and keys at Apple: 10 upper-case letters and digits.
    static func isAppleID(_ text: String) -> Bool {
        text.utf8.count == 10 && text.utf8.allSatisfy { (0x41...0x5a).contains($0) || (0x30...0x39).contains($0) }
    }

    /// RFC 9562 §4, in either letter case.
    static func isUUID(_ text: String) -> Bool {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        return parts.map(\.utf8.count) == [8, 4, 4, 4, 12] && parts.allSatisfy { $0.utf8.allSatisfy(isHexDigit) }
    }

    /// The name of a file in a folder that is known elsewhere: no way out of that folder, nothing hidden.
    package static func isFileName(_ text: String) -> Bool {
        guard (1...128).contains(text.utf8.count), let first = text.utf8.first, isLetterOrDigit(first) else { return false }
        return text.utf8.allSatisfy { isLetterOrDigit($0) || $0 == UInt8(ascii: "_") || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: ".") }
    }

    /// A bundle id or a Services ID: a reverse domain name of at least two labels, of letters, digits and hyphens. Letter case counts.
    static func isReverseDomainName(_ text: String) -> Bool {
        let labels = text.split(separator: ".", omittingEmptySubsequences: false)
        guard text.utf8.count <= 155, labels.count >= 2 else { return false }
        return labels.allSatisfy { !$0.isEmpty && $0.utf8.allSatisfy { isLetterOrDigit($0) || $0 == UInt8(ascii: "-") } }
    }

    static func isHexDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) || (0x61...0x66).contains(byte | 0x20) }

    private static func isBase64URL(_ byte: UInt8) -> Bool {
        isLetterOrDigit(byte) || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_")
    }

    private static func isLabel(_ label: Substring) -> Bool {
        guard (1...63).contains(label.utf8.count), label.first != "-", label.last != "-" else { return false }
        return label.utf8.allSatisfy { (0x61...0x7a).contains($0) || (0x30...0x39).contains($0) || $0 == UInt8(ascii: "-") }
    }

    static func isLetterOrDigit(_ byte: UInt8) -> Bool { isLetter(byte) || (0x30...0x39).contains(byte) }

    private static func isLetter(_ byte: UInt8) -> Bool { (0x61...0x7a).contains(byte | 0x20) }
}
