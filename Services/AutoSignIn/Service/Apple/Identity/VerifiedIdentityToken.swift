package import Clocks
internal import Contracts
internal import Cryptography
package import Faults
internal import Tokens

/// An identity token whose every check passed. Only the verification makes one.
package struct VerifiedIdentityToken: Sendable {
    /// The token is tied to this request in one of these ways (apple §2.2, V8).
    enum NonceStanding: Sendable {
        case matched
        /// The device cannot echo one: a code exchange has to succeed in its place.
        case unsupported
    }

    /// `sub`: the only key for identity.
    let subject: String
    /// `aud`.
    let clientID: String
    /// `exp`.
    let expiresAt: Timestamp
    let nonceStanding: NonceStanding
    let email: AppleEmail?
    /// `real_user_status`, on the first use in a native app (apple §2.6).
    let realUserStatus: RealUserStatus?
    /// `transfer_sub`, in the 60 days after an app transfer (apple §2.10).
    let transferSubject: String?

    /// The checks V3 to V9 in their order (apple §2.2); reading the token made V1 and V2.
    /// - Parameter key: The published key of the token's `kid`; `nil`: there is none.
    /// - Throws: The first reason found.
    package init(
        _ token: UnverifiedIdentityToken, key: AppleKey?, expecting expected: IdentityTokenExpectation, now: Int64
    ) throws(IdentityTokenRejection) {
        try token.requireSignature(by: key)
        let claims = token.claims
        guard claims.string("iss") == IdentityTokenExpectation.issuer else { throw .issuer }
        guard claims.string("aud") == expected.clientID else { throw .audience }
        expiresAt = Timestamp(seconds: try Self.end(claims, now))
        nonceStanding = try Self.standing(claims, expected.nonce)
        guard let subject = claims.string("sub"), Self.isSubject(subject) else { throw .subject }
        try Self.requireHash("c_hash", of: expected.code, claims)
        try Self.requireHash("at_hash", of: expected.accessToken, claims)
        self.subject = subject
        clientID = expected.clientID
        email = AppleEmail(claims)
        realUserStatus = claims.number("real_user_status").flatMap(RealUserStatus.init)
        transferSubject = claims.string("transfer_sub").flatMap { Self.isSubject($0) ? $0 : nil }
    }

    /// Apple's clock may be ahead this far, in seconds (V7).
    private static let clockTolerance: Int64 = 60

    /// The end of the year 9999; keeps arithmetic away from overflow.
    private static let latest: Int64 = 253_402_300_799

    private static func end(_ claims: JSONMembers, _ now: Int64) throws(IdentityTokenRejection) -> Int64 {
        guard let end = claims.instant("exp"), let start = claims.instant("iat"), now < end, end <= latest, start <= now + clockTolerance else {
            throw .expired
        }
        return end
    }

    private static func standing(_ claims: JSONMembers, _ expected: String?) throws(IdentityTokenRejection) -> NonceStanding {
        guard let expected else { throw .nonce }
        switch claims["nonce"] {
        case .string(let nonce):
            guard ConstantTime.equal(nonce, expected) else { throw .nonce }
            return .matched
        case nil:
            // Anything but a clear no counts as yes.
            guard claims["nonce_supported"] == nil || claims.bool("nonce_supported") == false else { throw .nonce }
            return .unsupported
        default: throw .nonce
        }
    }

    /// Characters of a `sub` (V9).
    private static let longestSubject = 255

    static func isSubject(_ text: String) -> Bool {
        // Bytes first: counting characters of a long text costs more.
        (1...(4 * longestSubject)).contains(text.utf8.count) && text.count <= longestSubject && text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7f }
    }

    /// OpenID Connect Core §3.1.3.6: the left half of the SHA-256 of the text. An absent claim, or nothing to hold it against, passes.
    private static func requireHash(_ name: String, of text: String?, _ claims: JSONMembers) throws(IdentityTokenRejection) {
        guard let text, let claim = claims[name] else { return }
        guard case .string(let hash) = claim, hash == Base64.url.encode(Array(SHA256.hash(text).prefix(16))) else { throw .foreignGrant }
    }
}

/// How sure Apple is that a person is there (apple §2.6).
enum RealUserStatus: Int64, Sendable, Codable {
    /// An old system: no signal.
    case unsupported = 0
    case unknown = 1
    case likelyReal = 2
}

extension RealUserPolicy {
    /// Nobody is ever refused for it; without a status, none is known and checks do no harm.
    init(_ status: RealUserStatus?) {
        self = status == .likelyReal ? .skipChecks : .extraChecks
    }
}

/// A compact JWS (RFC 7515 §7.1) from Apple that was read but not verified: what it says counts for nothing.
package struct UnverifiedIdentityToken: Sendable {
    /// In bytes (apple §2.2, V1); longer texts are refused unread.
    static let largestByteCount = 8 * 1024
    /// The algorithm of Apple's signatures (apple §2.2, V2).
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

/// An identity token is not accepted for one of these reasons (apple §2.2), in the order of the checks.
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

/// Verifies identity tokens with a set of keys that is at hand (apple §2.2, V1 to V9).
package struct IdentityTokenVerifier: Sendable {
    private let keys: AppleKeySet

    package init(keys: AppleKeySet) { self.keys = keys }

    /// - Throws: The first reason found, in the order of the specification.
    package func verify(
        _ text: String, expecting expected: IdentityTokenExpectation, now: Timestamp
    ) throws(IdentityTokenRejection) -> VerifiedIdentityToken {
        let token = try UnverifiedIdentityToken(text)
        return try VerifiedIdentityToken(token, key: token.keyName.flatMap(keys.key), expecting: expected, now: now.seconds)
    }
}
