internal import Clocks
internal import Cryptography
internal import Octets
internal import StrictJson

/// The compact JWS form of a media token (RFC 7515 §7.1, ES256), taken apart.
struct CompactTokenDocument: Sendable {
    /// `typ` of the header; keeps other JWS of the same key from passing as media tokens (RFC 8725 §3.11).
    static let type = MediaTokenClaims.type

    let keyIdentifier: String?
    let signature: [UInt8]
    let signedBytes: [UInt8]
    let facts: MediaTokenFacts

    private struct Header: Decodable {
        var alg: String
        var typ: String?
        var kid: String?
        var crit: [String]?
    }

    /// - Returns: `nil` unless the text is a JWS of this kind; `alg` is never taken as an instruction.
    init?(serialized: String) {
        guard serialized.utf8.count <= ReferenceTokenDocument.largestByteCount else { return nil }
        let parts = serialized.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 3, let headerBytes = Base64.url.decode(parts[0]), let payload = Base64.url.decode(parts[1]),
            let signature = Base64.url.decode(parts[2]),
            let header: Header = Self.read(headerBytes),
            header.alg == "ES256", header.typ == Self.type, header.crit == nil,
            let claims: MediaTokenClaims = Self.read(payload), let facts = claims.facts
        else { return nil }
        keyIdentifier = header.kid
        self.signature = signature
        signedBytes = Array("\(parts[0]).\(parts[1])".utf8)
        self.facts = facts
    }

    /// Members that nobody asks for do no harm; one that is there twice does (RFC 7515 §4, RFC 7519 §4).
    private static func read<Value: Decodable>(_ json: [UInt8]) -> Value? {
        guard let document = try? JsonDocument(parsing: json) else { return nil }
        return try? StrictJsonDecoder(ignoresUnknownNames: true).decode(Value.self, from: document)
    }
}

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
