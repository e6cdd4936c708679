/// Text from an untrusted message, made safe for a terminal, a log and a page.
enum ShownText {
    private static let longest = 200

    /// Printable ASCII, everything else as `?`, cut after 200 characters.
    static func of(_ text: String) -> String {
        let shown = text.unicodeScalars.prefix(longest).map { (0x20...0x7E).contains($0.value) ? Character($0) : "?" }
        return String(shown) + (text.unicodeScalars.count > longest ? "..." : "")
    }
}
