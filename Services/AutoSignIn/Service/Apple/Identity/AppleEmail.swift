/// An address that Apple tells, real or of its relay; never an identifier (apple §2.3).
struct AppleEmail: Hashable, Sendable, Codable {
    let address: String
    let isVerified: Bool
    /// Apple's relay: what `is_private_email` says, not the suffix (apple §2.7).
    let isPrivate: Bool

    /// Bytes (RFC 5321 §4.5.3.1.3).
    private static let longest = 254

    init(address: String, isVerified: Bool, isPrivate: Bool) {
        self.address = address
        self.isVerified = isVerified
        self.isPrivate = isPrivate
    }

    /// - Returns: `nil` when there is no usable address: it may be missing or empty.
    init?(_ claims: JSONMembers) {
        guard let address = claims.string("email"), Self.isAddress(address) else { return nil }
        self.init(
            address: address, isVerified: claims.bool("email_verified") ?? false, isPrivate: claims.bool("is_private_email") ?? false)
    }

    /// The address by which two accounts may be compared (apple §2.8, rule 4); `nil` unless the address is verified and the person's own.
    var comparable: String? { isVerified && !isPrivate ? address.lowercased() : nil }

    private static func isAddress(_ text: String) -> Bool {
        (3...longest).contains(text.utf8.count) && text.contains("@") && text.utf8.allSatisfy { $0 > 0x20 && $0 != 0x7f }
    }
}
