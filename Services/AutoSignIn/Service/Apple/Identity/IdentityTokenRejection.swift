package import Faults

/// Why an identity token is not accepted (apple §2.2), in the order of the checks.
package enum IdentityTokenRejection: Error, Hashable, Sendable, CaseIterable {
    /// V1: no compact JWS of two objects, too long, or with a member twice.
    case malformed
    /// V2.
    case algorithm
    /// V3.
    case unknownKey
    /// V4, also a key below 2048 bits.
    case signature
    /// V5.
    case issuer
    /// V6.
    case audience
    /// V7, also without the times that it needs.
    case expired
    /// V8.
    case nonce
    /// V9.
    case subject
    /// V10.
    case replayed
    /// `c_hash` or `at_hash` name another code or access token than the one at hand (apple §2.3).
    case foreignGrant

    package var code: Fault.Code {
        switch self {
        case .malformed: .appleTokenMalformed
        case .algorithm: .appleTokenAlgorithm
        case .unknownKey: .appleKeyUnknown
        case .signature: .appleTokenSignature
        case .issuer: .appleTokenIssuer
        case .audience: .appleTokenAudience
        case .expired: .appleTokenExpired
        case .nonce: .appleNonceMismatch
        case .subject: .appleTokenSubject
        case .replayed: .appleTokenReplayed
        case .foreignGrant: .appleGrantInvalid
        }
    }

    var fault: Fault { Fault(code, "Apple's identity token is not accepted.", cause: self) }
}
