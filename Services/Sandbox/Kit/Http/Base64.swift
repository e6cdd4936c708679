internal import FoundationEssentials

/// The sandbox's own, by Foundation: what it shared with the services could not show that they are wrong.
enum Base64 {
    /// - Returns: nil for anything but strict base64: no line breaks, no URL alphabet.
    static func octets(_ text: String) -> [UInt8]? { Data(base64Encoded: text).map(Array.init) }

    static func text(_ octets: [UInt8]) -> String { Data(octets).base64EncodedString() }

    /// The URL alphabet without padding (RFC 4648 §5).
    static func urlText(_ octets: [UInt8]) -> String {
        String(text(octets).compactMap { $0 == "+" ? "-" : $0 == "/" ? "_" : $0 == "=" ? nil : $0 })
    }

    static func urlOctets(_ text: String) -> [UInt8]? {
        let standard = String(text.map { $0 == "-" ? "+" : $0 == "_" ? "/" : $0 })
        return octets(standard + String(repeating: "=", count: (4 - standard.utf8.count % 4) % 4))
    }
}
