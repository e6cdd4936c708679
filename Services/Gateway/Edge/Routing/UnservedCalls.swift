internal import CoreMetrics
internal import Hummingbird
internal import Synchronization

/// Calls of the vendor's SDKs that nobody serves here: counted, so that an operator sees what the apps ask for (clients §3).
final class UnservedCalls: Sendable {
    /// Different labels; what comes later is `other`.
    static let most = 64
    private static let longest = 64
    private static let prefixes = ["/adobe-services/", "/indiv/", "/entitlement/"].map { Array($0.utf8) }

    private let counters = Mutex<[OctetText: Counter]>([:])

    /// - Parameter path: Without query, as it was sent.
    /// - Returns: False for an address that is of no SDK.
    func note(_ path: String) -> Bool {
        guard Self.prefixes.contains(where: { path.utf8.starts(with: $0) }) else { return false }
        let label = Self.label(path)
        counters.withLock { counters in
            let key = counters[label] == nil && counters.count >= Self.most ? "other" : label
            if let known = counters[key] { return known }
            let counter = Counter(label: "boxoffice_gateway_unserved_legacy_calls_total", dimensions: [("path", key)])
            counters[key] = counter
            return counter
        }.increment()
        return true
    }

    /// The names that have been counted so far.
    var names: Set<String> { counters.withLock { Set($0.keys.map(\.text)) } }

    /// The first two segments, of printable characters.
    static func label(_ path: String) -> String {
        let segments = path.utf8.split(separator: UInt8(ascii: "/"), maxSplits: 2).prefix(2).map { segment in
            String(
                decoding: segment.map { (0x21...0x7e).contains($0) && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") ? $0 : UInt8(ascii: "_") },
                as: UTF8.self)
        }
        return String(decoding: ("/" + segments.joined(separator: "/")).utf8.prefix(longest), as: UTF8.self)
    }
}
