/// A cookie says in one of these ways that it comes along from other sites too, for the browser that gets it.
///
/// Some drop a cookie with `SameSite=None`, or take it for `Strict`. They are WebKit of iOS 12 and macOS 10.14, Chromium 51 to 66, and UC Browser
/// before 12.13.2. Such Chromium is in televisions with webOS 4 or Tizen 4 and 5, and in Android's WebView of those years. They send a cookie without
/// the attribute from everywhere. Source: Chromium's list of incompatible clients.
package enum SameSiteNone {
    /// Behind the other attributes of a cookie; empty for those browsers.
    /// - Parameter agent: The request's `User-Agent`.
    package static func attribute(for agent: String?) -> String { agent.map(isUnderstood) ?? true ? "; SameSite=None" : "" }

    /// The part of an agent that is read, in octets.
    private static let longest = 1024

    private static func isUnderstood(_ agent: String) -> Bool {
        let agent = Array(agent.utf8.prefix(longest))
        if let version = numbers(in: agent, after: "UCBrowser/"), version.lexicographicallyPrecedes([12, 13, 2]) { return false }
        // Other names in such an agent do not count: its engine is this one.
        if let version = chromium(agent) { return !(51...66).contains(version) }
        guard contains(agent, "AppleWebKit/") else { return true }
        if ["(iPhone", "(iPad", "(iPod"].contains(where: { contains(agent, $0) }), numbers(in: agent, after: " OS ")?.first == 12 { return false }
        guard contains(agent, "(Macintosh;"), numbers(in: agent, after: "Mac OS X ")?.prefix(2) == [10, 14] else { return true }
        // Safari, and applications that show pages; other engines say their names.
        return !(contains(agent, "Version/") && contains(agent, " Safari/")) && !ends(agent, "(KHTML, like Gecko)")
    }

    /// The first number of `Chrome/`, `Chromium/` or `HeadlessChrome/`.
    private static func chromium(_ agent: [UInt8]) -> Int? {
        for name in ["Chrome/", "Chromium/"] {
            if let version = numbers(in: agent, after: name)?.first { return version }
        }
        return nil
    }

    private static func contains(_ agent: [UInt8], _ text: String) -> Bool { place(in: agent, after: text) != nil }

    private static func ends(_ agent: [UInt8], _ text: String) -> Bool { agent.suffix(text.utf8.count).elementsEqual(text.utf8) }

    private static func place(in agent: [UInt8], after text: String) -> Int? {
        let sought = Array(text.utf8)
        guard agent.count >= sought.count else { return nil }
        return (0...agent.count - sought.count).first { agent[$0..<$0 + sought.count].elementsEqual(sought) }.map { $0 + sought.count }
    }

    /// Up to three numbers behind a text, with points or low lines between them.
    private static func numbers(in agent: [UInt8], after text: String) -> [Int]? {
        guard let start = place(in: agent, after: text) else { return nil }
        let digits = agent[start...].prefix { (0x30...0x39).contains($0) || $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "_") }
        let parts = digits.split { $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "_") }.prefix(3)
        // A number that is too long is no version.
        let numbers = parts.map { Int(String(decoding: $0.prefix(9), as: UTF8.self)) ?? 0 }
        return numbers.isEmpty ? nil : numbers
    }
}
