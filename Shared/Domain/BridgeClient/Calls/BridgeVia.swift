internal import Cryptography

/// How a cluster names itself on the way to another one, so that a request which comes back is known (bridge §14.3).
public struct BridgeVia: Hashable, Sendable {
    private static let longestHeader = 8192

    /// `boxoffice-` and the deployment's id.
    public let pseudonym: String

    /// - Parameter origin: Scheme, host and port of the cluster's public addresses: what all of its services know of it.
    public init(origin: String) { pseudonym = "boxoffice-" + Hex.encode(Array(SHA256.hash(origin.lowercased()).prefix(8))) }

    /// Value of the header `Via` (RFC 9110 §7.6.3).
    public var header: String { "1.1 \(pseudonym)" }

    /// True when a request has been here before.
    /// - Parameter values: The values of its `Via` headers; beyond 8192 octets nothing is looked at.
    public func stands(in values: [String]) -> Bool {
        values.contains { value in
            value.utf8.count <= Self.longestHeader
                && value.split(separator: ",").contains { entry in
                    let words = entry.split(whereSeparator: { $0 == " " || $0 == "\t" })
                    return words.count >= 2 && words[1].lowercased() == pseudonym
                }
        }
    }
}
