internal import Catalogue
internal import Contracts
internal import Faults

/// Where a browser goes after a web sign-in: a path of our own pages, or an address under the requestor's domains.
enum ReturnAddress {
    static let longest = 2048

    /// - Parameter fallback: For an empty address.
    /// - Throws: `invalid_redirect_url`.
    static func checked(_ text: String, requestor: Requestor, fallback: String) throws(Fault) -> String {
        if text.isEmpty { return fallback }
        guard text.utf8.count <= longest, text.utf8.allSatisfy(isAllowed), isPath(text) || isUnderDomain(text, requestor) else {
            let isPlain = text.utf8.allSatisfy(isAllowed) && text.lowercased().hasPrefix("http://")
            let isOursOtherwise = isPlain && isUnderDomain("https://\(text.dropFirst("http://".count))", requestor)
            throw Fault(
                .invalidRedirectURL,
                isOursOtherwise
                    ? "The return address is by plain HTTP: at that domain only https is accepted."
                    : "The return address is not one of the requestor's.")
        }
        return text
    }

    /// `//host` would be another site's.
    private static func isPath(_ text: String) -> Bool { text.hasPrefix("/") && !text.hasPrefix("//") }

    private static func isUnderDomain(_ text: String, _ requestor: Requestor) -> Bool {
        guard let scheme = ["https://", "http://"].first(where: { text.lowercased().hasPrefix($0) }) else { return false }
        let authority = text.dropFirst(scheme.count).prefix { !"/?#".contains($0) }.lowercased()
        let parts = authority.split(separator: ":", omittingEmptySubsequences: false)
        guard let host = parts.first, parts.count <= 2, parts.count == 1 || UInt16(parts[1]) != nil, host.utf8.allSatisfy(isHostCharacter) else {
            return false
        }
        return requestor.domains.cover(scheme: String(scheme.dropLast(3)), host: String(host))
    }

    private static func isAllowed(_ byte: UInt8) -> Bool { byte > 0x20 && byte < 0x7f && !#"\"<>^`{|}"#.utf8.contains(byte) }

    private static func isHostCharacter(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x61...0x7a: true
        default: "-._".utf8.contains(byte)
        }
    }
}
