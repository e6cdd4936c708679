public import Clocks
public import Cryptography
public import Faults
internal import StrictJson
internal import Synchronization

/// An RSA key that signs service tokens (RS256), with its name.
public struct ServiceTokenKey: SuccessiveKey {
    /// `kid`: the thumbprint of the public key (RFC 7638).
    public var identifier: String { publicKey.identifier }
    public let publicKey: JSONWebKey
    let privateKey: RSAPrivateKey

    public init(_ privateKey: RSAPrivateKey) {
        self.privateKey = privateKey
        publicKey = Self.verifying(privateKey.publicKey)
    }

    /// The key that verifies the tokens of a key, and nothing else.
    public static func verifying(_ key: RSAPublicKey) -> JSONWebKey { JSONWebKey(.rsa(key), algorithm: .rs256) }
}

/// The keys of service tokens and their change without a restart. The keys of the files verify at once, and a new key signs after the lead time. The
/// previous key verifies until its tokens can no longer be exchanged.
public final class ServiceTokenKeys: Sendable {
    /// The contents of the files.
    public struct Files: Sendable {
        /// Signs.
        public var current: ServiceTokenKey
        /// Signed before; what they signed is good still.
        public var older: [JSONWebKey]

        public init(current: ServiceTokenKey, older: [JSONWebKey] = []) {
            self.current = current
            self.older = older
        }
    }

    private struct State {
        var succession: KeySuccession<ServiceTokenKey>
        var older: [JSONWebKey]
        /// The keys of other copies' files; `nil`: copies do not tell each other.
        var shared: [JSONWebKey]?
        /// Made once for many tokens.
        var keySet: JSONWebKeySet

        init(_ succession: KeySuccession<ServiceTokenKey>, older: [JSONWebKey]) {
            self.succession = succession
            self.older = older
            keySet = JSONWebKeySet(keys: [])
            publish()
        }

        var own: [JSONWebKey] { succession.published.map(\.publicKey) + older }

        mutating func publish() {
            let all = own + (shared ?? [])
            keySet = JSONWebKeySet(
                keys: all.enumerated().filter { index, key in !all[..<index].contains { $0.identifier == key.identifier } }.map(\.element))
        }
    }

    private let state: Mutex<State>
    private let clock: any WallClock

    /// - Parameters:
    ///   - files: Their current key signs at once.
    ///   - lead: For how long a new key verifies before it signs: until every copy of the service knows it.
    public init(_ files: Files, lead: Duration, clock: any WallClock = SystemClock()) {
        let life = ServiceTokens.lifetime + ServiceTokens.remembrance + lead
        let succession = KeySuccession(current: files.current, lead: lead, tokenLife: life, now: clock.now())
        state = Mutex(State(succession, older: files.older))
        self.clock = clock
    }

    /// Signs now.
    public var signing: ServiceTokenKey { state.withLock { $0.succession.signing } }

    /// Verify now.
    public var keySet: JSONWebKeySet { state.withLock { $0.keySet } }

    /// The keys that count by the files of this process, for its copies.
    public var published: [JSONWebKey] { state.withLock { $0.own } }

    /// As `SigningKeyRotation.share`.
    public func share(_ keys: [JSONWebKey], since: [String: Timestamp]) {
        state.withLock { state in
            state.shared = keys
            for (identifier, moment) in since { state.succession.note(identifier, publishedSince: moment) }
            state.publish()
        }
    }

    /// Takes the keys that the files hold now.
    public func adopt(_ files: Files) {
        let now = clock.now()
        state.withLock { state in
            state.succession.adopt(current: files.current, next: nil, now: state.shared == nil ? now : KeySuccession<ServiceTokenKey>.never)
            state.older = files.older
            _ = state.succession.advance(now: now)
            state.publish()
        }
    }

    /// Lets a new key take over after the lead time, and forgets a key when its tokens are of no use any more. Call it every few seconds.
    /// - Returns: True when something changed.
    public func advance() -> Bool {
        let now = clock.now()
        return state.withLock { state in
            guard state.succession.advance(now: now) else { return false }
            state.publish()
            return true
        }
    }
}

/// Makes service tokens: JWT, RS256 (rest-v2 §2.14).
public struct ServiceTokenSigner: Sendable {
    private let keys: ServiceTokenKeys

    /// - Parameter keys: Sign nothing else.
    public init(keys: ServiceTokenKeys) { self.keys = keys }

    /// Takes about half a millisecond: never on an event loop.
    /// - Throws: `internal` when the key cannot sign.
    public func issue(_ token: ServiceTokenClaims) throws(Fault) -> String {
        let key = keys.signing
        let header = JsonWriter.object { header in
            header.member("alg", JWSAlgorithm.rs256.rawValue)
            header.member("kid", key.identifier)
            header.member("typ", "JWT")
        }
        let claims = JsonWriter.object { claims in
            claims.member("iss", token.issuer)
            claims.member("sub", token.subject)
            claims.member("aud", ServiceTokens.audience)
            claims.member("nbf", token.issuedAt.seconds)
            claims.member("iat", token.issuedAt.seconds)
            claims.member("exp", token.expiresAt.seconds)
            if let tie = token.tie { claims.member("tie", tie) }
        }
        let input = Base64.url.encode(header.bytes) + "." + Base64.url.encode(claims.bytes)
        do {
            return input + "." + Base64.url.encode(try key.privateKey.sign(Array(input.utf8)))
        } catch {
            throw .unexpected(error)
        }
    }
}

/// Service tokens: a programmer's person, named to the apps of the programmer (rest-v2 §1.3, §2.14).
public enum ServiceTokens {
    /// `iss` of our own.
    public static let issuer = "ssoservicetoken"
    /// `aud` of everyone's; its letter case does not count.
    static let audience = "Adobe"
    /// The lifetime of our own tokens.
    public static let lifetime: Duration = .seconds(3600)
    /// For how long one of our own that is over can be exchanged for another: a television may be off for some days.
    public static let remembrance: Duration = .seconds(7 * 86_400)
}

/// The person of a service token whose signature, audience and time hold.
public struct ServiceTokenClaims: Hashable, Sendable {
    public var issuer: String
    public var subject: String
    /// One of our own: what ties it to the device that it was made for; `nil`: an identity service's.
    public var tie: String?
    public var issuedAt: Timestamp
    public var expiresAt: Timestamp

    /// - Parameters:
    ///   - issuer: `iss`.
    ///   - subject: The issuer's id of the person.
    ///   - tie: A member of our own tokens: names the device's row.
    ///   - issuedAt: In whole seconds.
    ///   - expiresAt: In whole seconds.
    public init(issuer: String, subject: String, tie: String?, issuedAt: Timestamp, expiresAt: Timestamp) {
        self.issuer = issuer
        self.subject = subject
        self.tie = tie
        self.issuedAt = issuedAt
        self.expiresAt = expiresAt
    }
}

/// Checks service tokens (`AD-Service-Token`): our own, and those of registered identity services, RS256 alone (rest-v2 §1.3).
///
/// The token's `iss` chooses the keys, the key decides the algorithm; the token decides neither (RFC 8725 §3.1).
public struct ServiceTokenVerifier: Sendable {
    private static let types: Set<String?> = [nil, "jwt"]
    private static let longestName = 1024

    private let own: ServiceTokenKeys
    private let others: [OctetText: JSONWebKeySet]

    /// - Parameters:
    ///   - own: The keys of the tokens that we issue.
    ///   - others: The keys of identity services, by issuer; none is called as we are.
    public init(own: ServiceTokenKeys, others: [OctetText: JSONWebKeySet] = [:]) {
        self.own = own
        self.others = others
    }

    /// - Parameter remembrance: How long a token may be over; for one that is to be exchanged.
    /// - Throws: The first reason found, in the order form, issuer, type, key, signature, audience, time.
    public func verify(_ token: String, now: Timestamp, remembrance: Duration = .zero) throws(TokenRejection) -> ServiceTokenClaims {
        let jws = try UnverifiedJWS(token)
        guard let issuer = jws.claimedIssuer else { throw .malformed }
        let isOwn = OctetText(issuer) == OctetText(ServiceTokens.issuer)
        guard let keys = isOwn ? own.keySet : others[issuer] else { throw .wrongIssuer }
        let claims = try jws.verified(as: Payload.self, types: Self.types, keys: keys, algorithms: [.rs256], acceptsUnnamedKey: !isOwn)
        let times = 0...ClaimTime.latest
        guard (1...Self.longestName).contains(claims.sub.utf8.count), times.contains(claims.exp), times.contains(claims.iat ?? 0) else {
            throw .malformed
        }
        let audience = ServiceTokens.audience.lowercased()
        guard claims.audience.contains(where: { OctetText($0.lowercased()) == OctetText(audience) }) else { throw .wrongAudience }
        if let start = claims.nbf, start > now.seconds + AccessTokenVerifier.clockTolerance { throw .notYetValid }
        guard now < Timestamp(seconds: claims.exp) + remembrance else { throw .expired }
        if isOwn, claims.tie == nil { throw .malformed }
        return ServiceTokenClaims(
            issuer: issuer, subject: claims.sub, tie: isOwn ? claims.tie : nil, issuedAt: Timestamp(seconds: claims.iat ?? 0),
            expiresAt: Timestamp(seconds: claims.exp))
    }

    private struct Payload: TokenClaims {
        let sub: String
        let audience: [String]
        // Seconds since 1970.
        let exp: Int64
        let iat: Int64?
        let nbf: Int64?
        let tie: String?

        init(_ claims: TokenObject) throws(TokenRejection) {
            sub = try claims.required("sub")
            audience = try claims.audience()
            exp = try claims.requiredInstant("exp")
            iat = try claims.instant("iat")
            nbf = try claims.instant("nbf", .up)
            tie = try claims.text("tie")
        }
    }
}
