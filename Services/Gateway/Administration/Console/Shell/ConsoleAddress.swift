internal import TextEncodings

/// Addresses of the console's pages.
enum ConsoleAddress {
    static func text(_ parts: [String], query: KeyValuePairs<String, String> = [:]) -> String {
        let path = ([Console.path] + parts.map(PercentEncoding.encode)).joined(separator: "/")
        let pairs = query.filter { !$0.value.isEmpty }.map { "\(PercentEncoding.encode($0.key))=\(PercentEncoding.encode($0.value))" }
        return pairs.isEmpty ? path : path + "?" + pairs.joined(separator: "&")
    }

    /// - Returns: The address where it is one of the console; home for any other, so that nothing leads elsewhere.
    static func own(_ address: String) -> String {
        let path = address.prefix { $0 != "?" && $0 != "#" }
        let isOwn = path == Console.path || path.hasPrefix(Console.path + "/")
        return isOwn && address.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7f && $0 != UInt8(ascii: "\\") } ? address : Console.path
    }
}
