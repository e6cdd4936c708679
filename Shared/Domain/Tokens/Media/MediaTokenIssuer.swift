public import Clocks
internal import Cryptography
public import Faults
public import MediaTokenVerifier
internal import Synchronization

/// Makes short media tokens (rest-v1 §7), in the reference form or as a compact JWS.
///
/// RSA signatures are made on the pool's threads. An ES256 signature takes some 17 µs, about as much as the way to another thread and back: it
/// is made where the caller is.
public final class MediaTokenIssuer: Sendable {
    /// How many copies of one service may issue with one key.
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
        var object = JSONObjectText()
        object.add("exp", exp)
        object.add("iat", iat)
        object.add("jti", jti)
        object.add("mvpd", mvpd)
        if let proxyMvpd { object.add("proxyMvpd", proxyMvpd) }
        object.add("requestor", requestor)
        object.add("resource", resource)
        object.add("sub", sub)
        object.add("ttl", ttl)
        return object.finished()
    }
}
