/// Scheme, host and port of a web address (RFC 6454).
package struct WebOrigin: Hashable, Sendable, CustomStringConvertible {
    /// `http` or `https`.
    package let scheme: String
    /// Lower case; an IPv6 address keeps its brackets.
    package let host: String
    /// Absent when it is not written.
    package let port: Int?

    /// - Parameter text: An origin or a whole address; only its beginning up to the path is read.
    /// - Returns: `nil` for another scheme, user information, or a host with characters that no host has.
    package init?(_ text: String) {
        guard let separator = text.firstRange(of: "://") else { return nil }
        let scheme = text[..<separator.lowerBound].lowercased()
        guard scheme == "http" || scheme == "https" else { return nil }
        let authority = text[separator.upperBound...].prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        guard let (host, port) = Self.split(authority) else { return nil }
        self.scheme = scheme
        self.host = host
        self.port = port
    }

    /// This machine: its name, or an address of its own, not a name that begins like one.
    package var isLoopback: Bool { host == "localhost" || IPAddress(host.filter { $0 != "[" && $0 != "]" })?.isLoopback == true }

    package var description: String { "\(scheme)://\(host)" + (port.map { ":\($0)" } ?? "") }

    private static func split(_ authority: Substring) -> (host: String, port: Int?)? {
        let bracket = authority.firstIndex(of: "]")
        let rest = bracket.map { authority[authority.index(after: $0)...] } ?? authority
        guard let colon = rest.firstIndex(of: ":") else { return valid(authority).map { ($0, nil) } }
        guard let port = UInt16(rest[rest.index(after: colon)...]), let host = valid(authority[..<colon]) else { return nil }
        return (host, Int(port))
    }

    private static func valid(_ host: Substring) -> String? {
        let name = host.lowercased()
        if name.hasPrefix("["), name.hasSuffix("]") {
            return name.dropFirst().dropLast().utf8.allSatisfy { isHex($0) || $0 == 0x3a || $0 == 0x2e } ? name : nil
        }
        let accepted = name.utf8.allSatisfy { (0x61...0x7a).contains($0) || (0x30...0x39).contains($0) || $0 == 0x2d || $0 == 0x2e }
        return accepted && !name.isEmpty ? name : nil
    }

    private static func isHex(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x61...0x66).contains(byte)
    }
}
