/// Host and port that a request says it was sent to.
enum Authority {
    /// Octets, at most, of a name (RFC 1035 §2.3.4) with a port.
    private static let longest = 300

    /// Whether it is one host, with a port or without (RFC 9110 §4.2.1, §7.2; RFC 3986 §3.2.2): no list, no path, nobody's name and password. Empty is
    /// plain, too: a request for a host that has no name.
    static func isPlain(_ authority: String) -> Bool {
        var rest = authority.utf8[...]
        guard rest.count <= longest else { return false }
        if rest.first == UInt8(ascii: "[") {
            guard let end = rest.firstIndex(of: UInt8(ascii: "]")), rest[..<end].dropFirst().allSatisfy(isOfNumericAddress) else { return false }
            rest = rest[rest.index(after: end)...]
        } else {
            rest = rest.drop(while: isOfName)
        }
        guard let colon = rest.first else { return true }
        return colon == UInt8(ascii: ":") && rest.count <= 6 && rest.dropFirst().allSatisfy { (0x30...0x39).contains($0) }
    }

    private static func isOfNumericAddress(_ octet: UInt8) -> Bool {
        (0x30...0x3a).contains(octet) || (0x61...0x66).contains(octet | 0x20) || octet == UInt8(ascii: ".")
    }

    /// Letters, digits, and what else names are made of; `%` begins an octet in its encoding.
    private static func isOfName(_ octet: UInt8) -> Bool {
        (0x61...0x7a).contains(octet | 0x20) || (0x30...0x39).contains(octet) || [0x2d, 0x2e, 0x5f, 0x7e, 0x25].contains(octet)
    }
}
