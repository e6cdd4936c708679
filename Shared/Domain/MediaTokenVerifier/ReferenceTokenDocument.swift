internal import Octets
internal import Clocks
internal import Cryptography

/// The reference form of a media token, taken apart (rest-v1 §7).
struct ReferenceTokenDocument: Sendable {
    /// In bytes after Base64; genuine tokens are far shorter.
    static let largestByteCount = 64 * 1024

    let signature: [UInt8]
    let signedBytes: [UInt8]
    let facts: MediaTokenFacts

    private static let openingTag = Array("<signatureInfo>".utf8)
    // The documented tag that ends the signature lacks its slash; some senders write it.
    private static let endingTags = [Array("<signatureInfo>".utf8), Array("</signatureInfo>".utf8)]
    private static let roots = ["shortAuthorizationToken", "authToken"]

    /// - Returns: `nil` unless the text is of the documented shape, in Base64 or in clear.
    init?(serialized: String) {
        guard serialized.utf8.count <= Self.largestByteCount * 4 / 3 else { return nil }
        // Players of the vendor's SDKs pass the decoded text on.
        let isPlain = serialized.utf8.first == UInt8(ascii: "<")
        guard let bytes = isPlain ? Array(serialized.utf8) : Base64.standard.decode(serialized), bytes.starts(with: Self.openingTag) else {
            return nil
        }
        let rest = bytes.dropFirst(Self.openingTag.count)
        guard let end = rest.firstIndex(of: UInt8(ascii: "<")),
            let tag = Self.endingTags.first(where: { rest[end...].starts(with: $0) }),
            let signature = Base64.standard.decode(Array(rest[..<end])), !signature.isEmpty
        else { return nil }
        self.signature = signature
        signedBytes = Array(rest[(end + tag.count)...])
        guard let facts = Self.facts(signedBytes) else { return nil }
        self.facts = facts
    }

    private static func facts(_ bytes: [UInt8]) -> MediaTokenFacts? {
        guard let text = String(validating: bytes, as: UTF8.self), let fields = FlatElement(text, roots: roots)?.fields else { return nil }
        guard let guid = fields["sessionGUID"], let requestor = fields["requestorID"], let resource = fields["resourceID"],
            let ttl = fields["ttl"].flatMap({ Int64($0) }), (0...maximalTTL).contains(ttl),
            let issuedAt = fields["issueTime"].flatMap(IssueTime.parse), let mvpd = fields["mvpdId"]
        else { return nil }
        let proxy = fields["proxyMvpdId"].flatMap { $0.isEmpty ? nil : $0 }
        return MediaTokenFacts(
            sessionGUID: guid, requestor: requestor, resource: resource, ttl: .milliseconds(ttl), issuedAt: issuedAt, mvpd: mvpd, proxyMvpd: proxy)
    }

    /// A year in milliseconds; keeps the arithmetic away from overflow.
    private static let maximalTTL: Int64 = 366 * 86_400_000
}
