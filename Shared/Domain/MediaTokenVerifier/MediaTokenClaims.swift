internal import Octets
internal import Clocks

/// The claims of a media token in JWS form: the facts of the reference form under JOSE's names where there are such.
public struct MediaTokenClaims: Codable, Hashable, Sendable {
    /// `typ` of the JWS header.
    public static let type = "media-token+jwt"

    /// Session GUID.
    public var sub: String
    /// Makes each token unique.
    public var jti: String
    /// Seconds since 1970.
    public var iat: Int64
    /// Seconds since 1970, rounded up; `ttl` is exact.
    public var exp: Int64
    /// Milliseconds.
    public var ttl: Int64
    public var requestor: String
    public var resource: String
    public var mvpd: String
    public var proxyMvpd: String?

    /// - Parameters:
    ///   - facts: `issuedAt` in whole seconds.
    ///   - identifier: Random text.
    public init(_ facts: MediaTokenFacts, identifier: String) {
        sub = facts.sessionGUID
        jti = identifier
        iat = facts.issuedAt.seconds
        ttl = facts.ttl.wholeMilliseconds
        exp = (facts.expiresAt.milliseconds + 999) / 1000
        requestor = facts.requestor
        resource = facts.resource
        mvpd = facts.mvpd
        proxyMvpd = facts.proxyMvpd
    }

    /// `nil` when the numbers are impossible.
    var facts: MediaTokenFacts? {
        guard (0...Self.latestSecond).contains(iat), (0...Self.maximalTTL).contains(ttl), exp >= iat, exp <= iat + ttl / 1000 + 1 else { return nil }
        return MediaTokenFacts(
            sessionGUID: sub, requestor: requestor, resource: resource, ttl: .milliseconds(ttl), issuedAt: Timestamp(seconds: iat), mvpd: mvpd,
            proxyMvpd: proxyMvpd)
    }

    // The end of the year 9999, and a year in milliseconds: keeps the arithmetic away from overflow.
    private static let latestSecond: Int64 = 253_402_300_799
    private static let maximalTTL: Int64 = 366 * 86_400_000
}
