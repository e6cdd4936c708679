/// An address that a browser is sent to, taken apart strictly: anything that two parsers could read differently is refused.
struct RedirectAddress: Hashable, Sendable {
    /// Longest accepted address, in characters.
    static let longest = 2048

    let text: String
    /// Lower case.
    let scheme: String
    /// Lower case, without port; empty for schemes without an authority.
    let host: String
    /// What follows `://`, up to the path: host and port, lower case.
    let authority: String

    /// - Parameter longest: Octets.
    /// - Returns: `nil` unless the text is `scheme://authority…` in printable ASCII, without user information, backslash or encoded host.
    init?(_ text: String, longest: Int = Self.longest) {
        guard text.utf8.count <= longest, text.utf8.allSatisfy(Self.isAllowed) else { return nil }
        guard let mark = text.firstRange(of: "://") else { return nil }
        scheme = text[..<mark.lowerBound].lowercased()
        guard let first = scheme.utf8.first, Self.isLetter(first), scheme.utf8.allSatisfy(Self.isSchemeCharacter) else { return nil }
        authority = text[mark.upperBound...].prefix { $0 != "/" && $0 != "?" && $0 != "#" }.lowercased()
        guard let host = Self.host(of: authority) else { return nil }
        self.host = host
        self.text = text
    }

    var isWeb: Bool { scheme == "http" || scheme == "https" }

    /// Scheme, host and port as written.
    var origin: String { "\(scheme)://\(authority)" }

    /// True when the host is the domain or lies under it; letter case does not count.
    func lies(under domain: String) -> Bool {
        let domain = domain.lowercased()
        return !domain.isEmpty && (host == domain || host.hasSuffix("." + domain))
    }

    /// The host without the port; `nil` when the authority holds anything else.
    private static func host(of authority: String) -> String? {
        guard !authority.contains("@"), !authority.contains("%") else { return nil }
        if authority.hasPrefix("[") { return authority.firstIndex(of: "]").map { String(authority[...$0]) } }
        let parts = authority.split(separator: ":", omittingEmptySubsequences: false)
        guard let name = parts.first, parts.count <= 2, name.utf8.allSatisfy(isHostCharacter) else { return nil }
        if parts.count == 2, !isPort(parts[1]) { return nil }
        return String(name)
    }

    private static func isPort(_ text: Substring) -> Bool {
        text.utf8.count <= 5 && text.utf8.allSatisfy(isDigit) && UInt16(text) != nil
    }

    private static func isAllowed(_ byte: UInt8) -> Bool {
        byte > 0x20 && byte < 0x7f && !#"\"<>^`{|}"#.utf8.contains(byte)
    }

    private static func isLetter(_ byte: UInt8) -> Bool { byte >= UInt8(ascii: "a") && byte <= UInt8(ascii: "z") }
    private static func isDigit(_ byte: UInt8) -> Bool { byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9") }
    /// The underscore is no character of a scheme (RFC 3986 §3.1), but one of base64url, of which generated schemes consist (dashboard §2).
    private static func isSchemeCharacter(_ byte: UInt8) -> Bool { isLetter(byte) || isDigit(byte) || "+-._".utf8.contains(byte) }
    private static func isHostCharacter(_ byte: UInt8) -> Bool { isLetter(byte) || isDigit(byte) || "-._".utf8.contains(byte) }
}
