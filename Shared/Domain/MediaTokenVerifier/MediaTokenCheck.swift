public import Clocks
public import Cryptography
internal import Octets
internal import StrictJson
internal import Synchronization

/// One check of one media token: unknown at first, decided by `validate`.
public struct MediaTokenCheck: Sendable {
    public private(set) var verdict: MediaTokenVerdict = .unknown
    /// True when the token is genuine but was presented before.
    public private(set) var isReplay = false
    /// The token's facts, once its format was understood; believe them only when `verdict` is `valid`.
    public private(set) var facts: MediaTokenFacts?
    private(set) var signedBytes: [UInt8] = []

    private let token: String
    private let requestor: String?
    private let resource: String?

    /// - Parameters:
    ///   - token: The whole string that the app handed over.
    ///   - requestor: `nil` skips the comparison.
    ///   - resource: Compared exactly; `nil` skips the comparison.
    public init(token: String, requestor: String?, resource: String?) {
        self.token = token
        self.requestor = requestor
        self.resource = resource
    }

    /// Decides; may be called again at another time.
    public mutating func validate(trustedKeys: TrustedMediaTokenKeys, now: Timestamp) {
        isReplay = false
        let trimmed = withoutOuterWhiteSpace()
        if let document = ReferenceTokenDocument(serialized: trimmed) {
            facts = document.facts
            signedBytes = document.signedBytes
            verdict = trustedKeys.isSigned(document) ? judge(document.facts, now) : .invalidSignature
        } else if let document = CompactTokenDocument(serialized: trimmed) {
            facts = document.facts
            signedBytes = document.signedBytes
            verdict = trustedKeys.isSigned(document) ? judge(document.facts, now) : .invalidSignature
        } else {
            facts = nil
            verdict = .invalidFormat
        }
    }

    private func judge(_ facts: MediaTokenFacts, _ now: Timestamp) -> MediaTokenVerdict {
        guard facts.issuedAt <= now + MediaTokenVerifier.clockTolerance, now < facts.expiresAt else { return .expired }
        if let requestor, requestor != facts.requestor { return .invalidSignature }
        if let resource, resource != facts.resource { return .invalidResource }
        return .valid
    }

    private func withoutOuterWhiteSpace() -> String {
        var text = token.drop(while: \.isWhitespace)
        while text.last?.isWhitespace == true { text.removeLast() }
        return String(text)
    }

    mutating func refuseReplay() {
        isReplay = true
        verdict = .expired
    }
}

/// The result of checking a media token, under the names that programmers' backends know (rest-v1 §7).
public enum MediaTokenVerdict: String, Sendable, CaseIterable {
    case valid = "VALID_TOKEN"
    case invalidFormat = "INVALID_TOKEN_FORMAT"
    /// No trusted key made the signature, or the token is another requestor's.
    case invalidSignature = "INVALID_SIGNATURE"
    /// The token has expired, is not valid yet, or was presented before.
    case expired = "TOKEN_EXPIRED"
    case invalidResource = "INVALID_RESOURCE_ID"
    /// Nothing was checked yet.
    case unknown = "ERROR_UNKNOWN"
}

/// Checks short media tokens offline, in the reference form (RSA) and as a compact JWS (ES256) (rest-v1 §7).
///
/// Not compared: MVPD, user, device. A token is good for one play; without a replay cache that is the caller's duty.
public struct MediaTokenVerifier: Sendable {
    /// An issuer's clock may be ahead of ours this far.
    public static let clockTolerance: Duration = .seconds(60)

    private let trustedKeys: TrustedMediaTokenKeys
    private let clock: any WallClock
    private let replays: ReplayCache?

    /// - Parameters:
    ///   - trustedKeys: The issuer's keys.
    ///   - clock: Decides what has expired.
    ///   - replays: When given, a token passes once.
    public init(trustedKeys: TrustedMediaTokenKeys, clock: any WallClock = SystemClock(), replays: ReplayCache? = nil) {
        self.trustedKeys = trustedKeys
        self.clock = clock
        self.replays = replays
    }

    /// Checks format, signature, time, requestor and resource, in this order.
    /// - Parameters:
    ///   - token: The whole string that the app handed over.
    ///   - requestor: `nil` skips the comparison.
    ///   - resource: Compared exactly; `nil` skips the comparison.
    public func verify(_ token: String, requestor: String?, resource: String?) -> MediaTokenCheck {
        var check = MediaTokenCheck(token: token, requestor: requestor, resource: resource)
        check.validate(trustedKeys: trustedKeys, now: clock.now())
        guard check.verdict == .valid, let replays, let facts = check.facts else { return check }
        if !replays.claim(check.signedBytes, until: facts.expiresAt, now: clock.now()) { check.refuseReplay() }
        return check
    }
}

/// Remembers tokens that passed until they expire, so that each passes once (rest-v1 §7).
///
/// Keyed by the signed bytes, not by the signature: from an ECDSA signature a second valid one can be made without the key.
public final class ReplayCache: Sendable {
    private struct State {
        var ends: [[UInt8]: Timestamp] = [:]
        var nextPruning: Int
    }

    private let limit: Int
    private let state: Mutex<State>

    /// - Parameter limit: Tokens remembered at once; when that many are live, further ones are refused rather than let through unchecked.
    public init(limit: Int = 100_000) {
        self.limit = limit
        state = Mutex(State(nextPruning: min(limit, 1024)))
    }

    /// - Returns: False when the bytes were claimed before, or no room is left.
    func claim(_ signedBytes: [UInt8], until end: Timestamp, now: Timestamp) -> Bool {
        let digest = SHA256.hash(signedBytes)
        return state.withLock { state in
            if let known = state.ends[digest], now < known { return false }
            if state.ends.count >= state.nextPruning {
                state.ends = state.ends.filter { now < $0.value }
                state.nextPruning = min(limit, max(1024, state.ends.count * 2))
            }
            guard state.ends.count < limit else { return false }
            state.ends[digest] = end
            return true
        }
    }
}

/// The keys that verify media tokens. Several may be in use during a key rotation; any of them may match.
public struct TrustedMediaTokenKeys: Sendable {
    private var rsa: [RSAPublicKey] = []
    private var p256: [(keyIdentifier: String?, key: P256PublicKey)] = []

    /// No keys yet: until some are added, no token passes.
    public init() {}

    /// - Parameter certificates: Pinned: their dates and issuers are not checked.
    /// - Throws: `CryptographyError` when one holds a key that cannot verify media tokens.
    public init(certificates: [Certificate]) throws(CryptographyError) {
        for certificate in certificates { add(try certificate.publicKey()) }
    }

    public var isEmpty: Bool { rsa.isEmpty && p256.isEmpty }

    /// - Parameter keyIdentifier: `kid`; `nil` lets the key verify a JWS of any `kid`.
    public mutating func add(_ key: PublicKey, keyIdentifier: String? = nil) {
        switch key {
        case .rsa(let key): rsa.append(key)
        case .p256(let key): p256.append((keyIdentifier, key))
        }
    }

    /// Adds the P-256 keys of a JWK set. Each entry is read by itself: what cannot be used is ignored, as RFC 7517 §5 demands.
    /// - Throws: `CryptographyError.malformed` when the text is no JWK set, or names P-256 keys of which none can be used.
    public mutating func add(jwks json: String) throws(CryptographyError) {
        guard let document = try? JsonDocument(parsing: Array(json.utf8)), let entries = Self.keys(document.root) else { throw .malformed("JWK set") }
        let named = entries.filter { $0["kty"] == "EC" && $0["crv"] == "P-256" }
        let keys = named.compactMap { entry -> (String?, P256PublicKey)? in
            guard let x = Base64.url.decode(entry["x"] ?? ""), let y = Base64.url.decode(entry["y"] ?? ""), let key = try? P256PublicKey(x: x, y: y)
            else { return nil }
            return (entry["kid"], key)
        }
        guard named.isEmpty || !keys.isEmpty else { throw .malformed("JWK set") }
        for (identifier, key) in keys { add(.p256(key), keyIdentifier: identifier) }
    }

    /// The texts of each entry; one that has a member twice, or a `kid` that is no text, is left out.
    private static func keys(_ root: JsonNode) -> [[String: String]]? {
        guard case .object(let members) = root.content, let keys = members.first(where: { $0.name == "keys" })?.value,
            case .array(let entries) = keys.content, members.count(where: { $0.name == "keys" }) == 1
        else { return nil }
        return entries.compactMap { entry in
            guard case .object(let members) = entry.content else { return nil }
            var texts: [String: String] = [:]
            for name in ["kty", "crv", "kid", "x", "y"] {
                let found = members.filter { $0.name == name }
                guard let member = found.first else { continue }
                guard found.count == 1, case .string(let text) = member.value.content else { return nil }
                texts[name] = text
            }
            return texts
        }
    }

    func isSigned(_ document: ReferenceTokenDocument) -> Bool {
        rsa.contains { $0.isValid(document.signature, for: document.signedBytes) }
    }

    func isSigned(_ document: CompactTokenDocument) -> Bool {
        p256.contains { identifier, key in
            (identifier == nil || identifier == document.keyIdentifier) && key.isValid(document.signature, for: document.signedBytes)
        }
    }
}

/// The facts of a media token; trust them only after a check (rest-v1 §7).
public struct MediaTokenFacts: Hashable, Sendable {
    /// The user's scrambled id.
    public var sessionGUID: String
    public var requestor: String
    /// As the app asked for it.
    public var resource: String
    /// From issue to end, in whole milliseconds.
    public var ttl: Duration
    /// In whole seconds.
    public var issuedAt: Timestamp
    public var mvpd: String
    /// Set when the MVPD is reached through another one.
    public var proxyMvpd: String?

    /// - Parameters:
    ///   - sessionGUID: The user's scrambled id.
    ///   - requestor: Id of the requestor.
    ///   - resource: As the app asked for it.
    ///   - ttl: From issue to end, in whole milliseconds.
    ///   - issuedAt: In whole seconds.
    ///   - mvpd: Id of the MVPD.
    ///   - proxyMvpd: Id of the MVPD through which `mvpd` is reached; `nil`: it is reached directly.
    public init(
        sessionGUID: String, requestor: String, resource: String, ttl: Duration, issuedAt: Timestamp, mvpd: String, proxyMvpd: String? = nil
    ) {
        self.sessionGUID = sessionGUID
        self.requestor = requestor
        self.resource = resource
        self.ttl = ttl
        self.issuedAt = issuedAt
        self.mvpd = mvpd
        self.proxyMvpd = proxyMvpd
    }

    /// The first moment at which the token no longer counts.
    public var expiresAt: Timestamp { issuedAt + ttl }
}
