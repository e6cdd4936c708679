public import Clocks
public import Cryptography
public import Faults
public import MediaTokenVerifier
internal import StrictJson
internal import Synchronization
internal import TextEncodings

/// Makes short media tokens (rest-v1 §7), in the reference form or as a compact JWS.
///
/// RSA signatures are made on the pool's threads. An ES256 signature takes some 17 µs, about as much as the way to another thread and back: it
/// is made where the caller is.
public final class MediaTokenIssuer: Sendable {
    /// This many copies of one service may issue with one key.
    public static let copies = 0...839

    private let referenceKey: ReferenceSigningKey
    private let windows: any IssueWindows
    private let jwsKeys: SigningKeys
    private let pool: SigningPool
    private let clock: any WallClock
    private let instants = Mutex(IssueInstants())

    public enum Form: Sendable, CaseIterable {
        /// RSA, SHA256withRSA; what programmers' existing verifiers accept.
        case reference
        /// ES256.
        case jws
    }

    /// - Parameters:
    ///   - referenceKey: Belongs to the certificate that programmers trust.
    ///   - jwsKeys: Published as a JWK set.
    ///   - copy: Number of this copy of the service, one of `copies`: two that share a key must have different ones.
    public convenience init(
        referenceKey: ReferenceSigningKey, jwsKeys: SigningKeys, pool: SigningPool, clock: any WallClock = SystemClock(), copy: Int = 0
    ) {
        precondition(Self.copies.contains(copy), "copies are numbered from 0 to 839")
        self.init(referenceKey: referenceKey, jwsKeys: jwsKeys, pool: pool, clock: clock, windows: FixedIssueWindow(copy: copy))
    }

    /// - Parameter windows: Tells which number and which seconds are this copy's.
    public init(
        referenceKey: ReferenceSigningKey, jwsKeys: SigningKeys, pool: SigningPool, clock: any WallClock, windows: any IssueWindows
    ) {
        self.referenceKey = referenceKey
        self.windows = windows
        self.jwsKeys = jwsKeys
        self.pool = pool
        self.clock = clock
    }

    /// The play that a token is made for; the issuer adds the time.
    public struct Play: Sendable {
        /// The user's scrambled id.
        public var sessionGUID: String
        public var requestor: String
        public var resource: String
        public var mvpd: String
        public var proxyMvpd: String?
        /// 1 s to 1 h, whole milliseconds.
        public var ttl: Duration

        /// - Parameters:
        ///   - sessionGUID: The user's scrambled id.
        ///   - requestor: Id of the requestor.
        ///   - resource: As the app asked for it.
        ///   - mvpd: Id of the MVPD.
        ///   - proxyMvpd: Id of the MVPD through which `mvpd` is reached; `nil`: it is reached directly.
        ///   - ttl: 1 s to 1 h, whole milliseconds.
        public init(sessionGUID: String, requestor: String, resource: String, mvpd: String, proxyMvpd: String? = nil, ttl: Duration) {
            self.sessionGUID = sessionGUID
            self.requestor = requestor
            self.resource = resource
            self.mvpd = mvpd
            self.proxyMvpd = proxyMvpd
            self.ttl = ttl
        }

        func facts(issuedAt: Timestamp) -> MediaTokenFacts {
            MediaTokenFacts(
                sessionGUID: sessionGUID, requestor: requestor, resource: resource, ttl: ttl, issuedAt: issuedAt, mvpd: mvpd, proxyMvpd: proxyMvpd)
        }
    }

    public struct Issued: Sendable {
        /// The text that the app hands to its backend.
        public let serialized: String
        public let facts: MediaTokenFacts
    }

    /// Issues a token that differs from every earlier one, of this copy and of the others.
    /// - Throws: `too_many_requests` when one play asked for a token of the reference form more than 120 times in 120 s; `overloaded` when too
    ///   many signatures wait; `unavailable` when this copy has no number; `internal`.
    public func issue(_ play: Play, form: Form) async throws(Fault) -> Issued {
        switch form {
        case .reference: try await issueReference(play)
        case .jws: try issueJWS(play)
        }
    }

    /// For a service that has other work to do before it issues.
    /// - Throws: `overloaded` when a token of that form would be refused now.
    public func requireRoom(form: Form) throws(Fault) {
        if form == .reference { try pool.requireRoom() }
    }

    private func issueReference(_ play: Play) async throws(Fault) -> Issued {
        let subject = IssueInstants.Subject(
            sessionGUID: play.sessionGUID, requestor: play.requestor, resource: play.resource, mvpd: play.mvpd)
        let window = try await windows.window(at: clock.now())
        let now = min(clock.now(), window.end - .milliseconds(1))
        let facts: MediaTokenFacts
        switch instants.withLock({ $0.claim(subject, now: now, first: window.first) }) {
        case .second(let moment): facts = play.facts(issuedAt: moment)
        case .exhausted: throw Fault(.tooManyRequests, "Too many media tokens for one play.", retryAfter: .seconds(1))
        case .full: throw Fault(.overloaded, "Too many media tokens of the reference form.", retryAfter: .seconds(5))
        case .early: throw Fault(.unavailable, "No media token of the reference form can be dated yet.", retryAfter: .seconds(1))
        }
        let (key, copy) = (referenceKey.key, window.copy)
        let serialized = try await pool.run {
            let payload = ReferenceTokenForm.payload(facts, copy: copy)
            return ReferenceTokenForm.serialize(payload: payload, signature: try key.sign(payload))
        }
        return Issued(serialized: serialized, facts: facts)
    }

    private func issueJWS(_ play: Play) throws(Fault) -> Issued {
        let facts = play.facts(issuedAt: Timestamp(seconds: clock.now().seconds))
        let claims = MediaTokenClaims(facts, identifier: Base64.url.encode(SecureRandom.bytes(16)))
        do throws(CryptographyError) {
            let token = try CompactJWS.sign(payload: claims.json, type: MediaTokenClaims.type, key: jwsKeys.ring.current)
            return Issued(serialized: token, facts: facts)
        } catch {
            throw .unexpected(error)
        }
    }
}

extension MediaTokenClaims {
    /// The octets that a JSON encoder with sorted keys writes.
    var json: [UInt8] {
        JsonWriter.object { object in
            object.member("exp", exp)
            object.member("iat", iat)
            object.member("jti", jti)
            object.member("mvpd", mvpd)
            if let proxyMvpd { object.member("proxyMvpd", proxyMvpd) }
            object.member("requestor", requestor)
            object.member("resource", resource)
            object.member("sub", sub)
            object.member("ttl", ttl)
        }.bytes
    }
}

/// The RSA key that signs media tokens in the reference form; replaced while it is used.
public final class ReferenceSigningKey: Sendable {
    private let state: Mutex<RSAPrivateKey>

    public init(_ key: RSAPrivateKey) { state = Mutex(key) }

    public var key: RSAPrivateKey { state.withLock { $0 } }

    /// From now on tokens are signed with this key.
    public func replace(_ key: RSAPrivateKey) {
        state.withLock { $0 = key }
    }
}

/// The issue times that one copy of a service may use. It is a copy number that no other copy has at that moment, and a range of seconds.
public struct IssueWindow: Sendable, Equatable {
    /// One of `MediaTokenIssuer.copies`.
    public var copy: Int
    /// The first second that it may use; another process may have used earlier ones.
    public var first: Timestamp
    /// Only seconds before it may be used: the next holder of the number begins there.
    public var end: Timestamp

    /// - Parameters:
    ///   - copy: One of `MediaTokenIssuer.copies`, 0 to 839.
    ///   - first: The first second that may be used.
    ///   - end: The first second that may no longer be used.
    public init(copy: Int, first: Timestamp, end: Timestamp) {
        self.copy = copy
        self.first = first
        self.end = end
    }
}

/// Holds the number of a copy.
public protocol IssueWindows: Sendable {
    /// - Returns: A window that ends after `now`.
    /// - Throws: `unavailable` when another copy holds the number now, or it cannot be held longer; faults of the store.
    func window(at now: Timestamp) async throws(Fault) -> IssueWindow
}

/// A number that is reserved for this copy.
struct FixedIssueWindow: IssueWindows {
    let copy: Int

    func window(at now: Timestamp) async throws(Fault) -> IssueWindow {
        IssueWindow(copy: copy, first: Timestamp(milliseconds: 0), end: now + .seconds(1))
    }
}

/// The bytes of a media token in the reference form (rest-v1 §7).
enum ReferenceTokenForm {
    /// The signed text: the root element, in UTF-8. Elements stand in the documented order; `proxyMvpdId` is there only behind a proxy.
    /// - Parameter copy: The number of the issuing service's copy; the issue time stands in a time zone of that many minutes, so that no two copies
    ///   write the same bytes.
    static func payload(_ facts: MediaTokenFacts, copy: Int = 0) -> [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity(512)
        append("<shortAuthorizationToken>", to: &text)
        append("sessionGUID", facts.sessionGUID, to: &text)
        append("requestorID", facts.requestor, to: &text)
        append("resourceID", facts.resource, to: &text)
        append("ttl", String(facts.ttl.wholeMilliseconds), to: &text)
        append("issueTime", IssueTime.format(facts.issuedAt, zone: Int64(copy)), to: &text)
        append("mvpdId", facts.mvpd, to: &text)
        if let proxy = facts.proxyMvpd { append("proxyMvpdId", proxy, to: &text) }
        append("</shortAuthorizationToken>", to: &text)
        return text
    }

    /// - Parameter signature: Over `payload`.
    static func serialize(payload: [UInt8], signature: [UInt8]) -> String {
        var text: [UInt8] = []
        text.reserveCapacity(payload.count + 2 * signature.count)
        append("<signatureInfo>", to: &text)
        text.append(contentsOf: Base64.standard.encode(signature).utf8)
        // The tag after the signature lacks its slash: verifiers in the field expect exactly that.
        append("<signatureInfo>", to: &text)
        text.append(contentsOf: payload)
        return Base64.standard.encode(text)
    }

    private static func append(_ element: String, _ content: String, to text: inout [UInt8]) {
        append("<", to: &text)
        append(element, to: &text)
        append(">", to: &text)
        append(MarkupEscapes.xmlText.escaped(content), to: &text)
        append("</", to: &text)
        append(element, to: &text)
        append(">", to: &text)
    }

    private static func append(_ part: String, to text: inout [UInt8]) { text.append(contentsOf: part.utf8) }
}
