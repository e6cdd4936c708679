internal import Tokens

/// A compact JWS (RFC 7515 §7.1) from Apple that was read but not verified: what it says counts for nothing.
package struct UnverifiedIdentityToken: Sendable {
    /// In bytes (apple §2.2, V1); longer texts are refused unread.
    static let largestByteCount = 8 * 1024
    /// What Apple signs with (apple §2.2, V2).
    static let algorithm = "RS256"

    /// `kid`: names one of the published keys.
    package let keyName: String?
    let claims: JSONMembers
    let signature: [UInt8]
    let signedBytes: [UInt8]

    /// The checks V1 and V2. No other header is looked at: a key or an address of one in the token is never used.
    package init(_ text: String) throws(IdentityTokenRejection) {
        guard let form = CompactForm(text, largest: Self.largestByteCount), let header = JSONMembers(form.header),
            let claims = JSONMembers(form.payload), header["crit"] == nil
        else { throw .malformed }
        guard header.string("alg") == Self.algorithm else { throw .algorithm }
        keyName = header.string("kid")
        self.claims = claims
        signature = form.signature
        signedBytes = form.signedBytes
    }

    /// The check V4, and with an absent key V3.
    func requireSignature(by key: AppleKey?) throws(IdentityTokenRejection) {
        switch key {
        case nil: throw .unknownKey
        case .weak: throw .signature
        case .usable(let key, let others):
            guard ([key] + others).contains(where: { $0.isValid(signature, for: signedBytes) }) else { throw .signature }
        }
    }
}
