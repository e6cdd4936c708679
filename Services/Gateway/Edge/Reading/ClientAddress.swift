internal import NIOCore

/// The device's address as the gateway sees it (rest-v1 §2.6).
struct ClientAddress: Hashable, Sendable {
    /// Textual form; empty when the transport has none.
    let text: String
    /// True when a trusted peer named it.
    let isForwarded: Bool

    /// - Parameters:
    ///   - peer: Address of the connection's other end.
    ///   - forwarded: Values of `X-Forwarded-For`, in header order.
    ///   - trusted: The peers whose header counts.
    init(peer: String?, forwarded: [String], trusted: [AddressRange]) {
        let named = Self.named(peer: peer, forwarded: forwarded, trusted: trusted)
        text = named ?? peer ?? ""
        isForwarded = named != nil
    }

    /// The rightmost address that is not trusted, private or not: what stands left of it can be written by the device itself (rest-v1 §2.6).
    private static func named(peer: String?, forwarded: [String], trusted: [AddressRange]) -> String? {
        guard !forwarded.isEmpty, let peer, let address = IPAddress(peer), trusted.contains(where: { $0.contains(address) }) else { return nil }
        if forwarded.count == 1, let candidate = IPAddress(forwarded[0]) {
            return trusted.contains(where: { $0.contains(candidate) }) ? nil : forwarded[0]
        }
        for entry in forwarded.flatMap({ $0.utf8.split(separator: UInt8(ascii: ",")) }).reversed() {
            let text = withoutPort(Substring(entry))
            guard let candidate = IPAddress(text) else { return nil }
            if trusted.contains(where: { $0.contains(candidate) }) { continue }
            return text
        }
        return nil
    }

    private static func withoutPort(_ entry: Substring) -> String {
        let isPlain = !entry.utf8.contains { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
        let text = isPlain ? String(entry) : entry.filter { $0 != " " && $0 != "\t" }
        if text.hasPrefix("["), let end = text.firstIndex(of: "]") { return String(text[text.index(after: text.startIndex)..<end]) }
        let colons = text.utf8.count { $0 == 0x3a }
        return colons == 1 ? String(text.prefix { $0 != ":" }) : text
    }
}
