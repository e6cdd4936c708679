public import Clocks
public import Cryptography
internal import Synchronization

/// The contents of the files of an issuer's keys.
public struct SigningKeyFiles: Sendable {
    /// Signs.
    public var current: JoseSigningKey
    /// Will sign next; what it signs is good already.
    public var next: JoseSigningKey?
    /// Signed before; what they signed is good still.
    public var older: [JSONWebKey]

    /// - Parameters:
    ///   - current: Signs.
    ///   - next: Will sign next; verifies already.
    ///   - older: Signed before; still verify.
    public init(current: JoseSigningKey, next: JoseSigningKey? = nil, older: [JSONWebKey] = []) {
        self.current = current
        self.next = next
        self.older = older
    }
}

/// The keys of an issuer and their change without a restart (decision 0052). The keys of the files verify at once, and a new key signs after the lead
/// time. The previous key verifies until its tokens have expired.
public final class SigningKeyRotation: Sendable {
    private struct State {
        var succession: KeySuccession<JoseSigningKey>
        var older: [JSONWebKey]
        /// The keys of other copies' files; `nil`: copies do not tell each other.
        var shared: [JSONWebKey]?

        var ring: SigningKeyRing {
            var seen: Set<String> = [succession.signing.identifier]
            let others = (succession.published.map(\.publicKey) + older + (shared ?? [])).filter { seen.insert($0.identifier).inserted }
            return SigningKeyRing(current: succession.signing, previous: others)
        }
    }

    /// A hundred years.
    private static let endless: Duration = .seconds(3_155_760_000)

    /// For issuers and verifiers.
    public let keys: SigningKeys
    private let state: Mutex<State>
    private let clock: any WallClock

    /// - Parameters:
    ///   - files: Their current key signs at once: this process does not know what others have published.
    ///   - lead: For how long a new key verifies before it signs: until every verifier knows it. Other copies of the issuer may sign with the key
    ///     before for so long.
    ///   - tokenLife: The life of the longest token; `nil`: they never end.
    public init(_ files: SigningKeyFiles, lead: Duration, tokenLife: Duration?, clock: any WallClock = SystemClock()) {
        let life = tokenLife.map { $0 + lead } ?? Self.endless
        let succession = KeySuccession(current: files.current, next: files.next, lead: lead, tokenLife: life, now: clock.now())
        let state = State(succession: succession, older: files.older)
        keys = SigningKeys(state.ring)
        self.state = Mutex(state)
        self.clock = clock
    }

    /// `kid` of the key that signs.
    public var signingKeyName: String { keys.ring.current.identifier }

    /// Takes the keys that the files hold now.
    public func adopt(_ files: SigningKeyFiles) {
        let now = clock.now()
        state.withLock { state in
            state.succession.adopt(current: files.current, next: files.next, now: state.shared == nil ? now : KeySuccession<JoseSigningKey>.never)
            state.older = files.older
            _ = state.succession.advance(now: now)
            keys.replace(state.ring)
        }
    }

    /// The keys that count by the files of this process, for its copies.
    public var published: [JSONWebKey] {
        state.withLock { state in state.succession.published.map(\.publicKey) + state.older }
    }

    /// Takes in what all copies publish. From the first call on, a new key signs only when it has been among these for the lead time.
    /// - Parameters:
    ///   - keys: The keys of all copies' files; their tokens are good here too.
    ///   - since: By name, since when each has been published.
    /// - Returns: True when other keys count than before.
    @discardableResult
    public func share(_ keys: [JSONWebKey], since: [String: Timestamp]) -> Bool {
        state.withLock { state in
            let before = Set(state.ring.keySet.keys.map(\.identifier))
            state.shared = keys
            for (identifier, moment) in since { state.succession.note(identifier, publishedSince: moment) }
            let ring = state.ring
            guard Set(ring.keySet.keys.map(\.identifier)) != before else { return false }
            self.keys.replace(ring)
            return true
        }
    }

    /// Lets a new key take over after the lead time, and forgets a key after its last token has expired. Call it every few seconds.
    /// - Returns: True when something changed.
    @discardableResult
    public func advance() -> Bool {
        let now = clock.now()
        return state.withLock { state in
            let hasChanged = state.succession.advance(now: now)
            if hasChanged { keys.replace(state.ring) }
            return hasChanged
        }
    }
}

/// The key ring that issuers and verifiers of one process share; replaced while they work.
public final class SigningKeys: Sendable {
    private let state: Mutex<SigningKeyRing>

    public init(_ ring: SigningKeyRing) { state = Mutex(ring) }

    public var ring: SigningKeyRing { state.withLock { $0 } }

    /// Public keys of the ring, including those that do not sign yet or no longer sign.
    public var keySet: JSONWebKeySet { ring.keySet }

    /// From now on tokens are signed and verified by this ring.
    public func replace(_ ring: SigningKeyRing) {
        state.withLock { $0 = ring }
    }
}

/// A key under which tokens are signed, told apart from others by its name.
public protocol SuccessiveKey: Sendable {
    var identifier: String { get }
}

extension JoseSigningKey: SuccessiveKey {}

/// Which of an issuer's keys signs and which are published, while the files that name them change (decision 0052).
///
/// A key that was not published before signs only when it has been published for `lead`. A key that no longer signs stays published until its last
/// token has expired.
public struct KeySuccession<Key: SuccessiveKey>: Sendable {
    /// When a key takes over of which other copies have not heard.
    public static var never: Timestamp { Timestamp(milliseconds: .max / 2) }

    private let lead: Duration
    private let tokenLife: Duration
    public private(set) var signing: Key
    private var wanted: Key
    private var next: Key?
    /// Since when each key of the files has been published.
    private var publishedSince: [String: Timestamp]
    private var retired: [(key: Key, until: Timestamp)] = []

    /// - Parameters:
    ///   - current: Signs at once: this process does not know what others have published.
    ///   - next: Will sign later; is published already.
    ///   - lead: As long as verifiers keep a copy of the published keys.
    ///   - tokenLife: The life of the longest token.
    public init(current: Key, next: Key? = nil, lead: Duration, tokenLife: Duration, now: Timestamp) {
        self.lead = lead
        self.tokenLife = tokenLife
        signing = current
        wanted = current
        self.next = next
        publishedSince = [current.identifier: now]
        if let next { publishedSince[next.identifier] = now }
    }

    /// The keys that count now, the one that signs first.
    public var published: [Key] {
        var seen: Set<String> = []
        return ([signing, wanted] + (next.map { [$0] } ?? []) + retired.map(\.key)).filter { seen.insert($0.identifier).inserted }
    }

    /// Takes the keys that the files name now; they change their roles at the next `advance`.
    /// - Parameters:
    ///   - current: Signs once it has been published for `lead`.
    ///   - next: Is published from now on; `nil`: no successor is known.
    ///   - now: The time of day.
    public mutating func adopt(current: Key, next: Key?, now: Timestamp) {
        wanted = current
        self.next = next
        let named = [current] + (next.map { [$0] } ?? [])
        var since: [String: Timestamp] = [signing.identifier: publishedSince[signing.identifier] ?? now]
        for key in named { since[key.identifier] = publishedSince[key.identifier] ?? now }
        for entry in retired { since[entry.key.identifier] = publishedSince[entry.key.identifier] }
        publishedSince = since
    }

    /// Since when a key of the files has been published, where that is known better than by when this process saw the files.
    public mutating func note(_ identifier: String, publishedSince moment: Timestamp) {
        if publishedSince[identifier] != nil { publishedSince[identifier] = moment }
    }

    /// Lets the new key take over once it has been published for `lead`, and forgets keys after their last token has expired.
    /// - Returns: True when something changed.
    public mutating func advance(now: Timestamp) -> Bool {
        let count = retired.count
        retired.removeAll { $0.until <= now }
        guard wanted.identifier != signing.identifier, let since = publishedSince[wanted.identifier], since + lead <= now else {
            return retired.count != count
        }
        retired.append((signing, now + tokenLife))
        signing = wanted
        retired.removeAll { $0.key.identifier == signing.identifier }
        return true
    }
}

extension KeySuccession<JoseSigningKey> {
    /// The ring for issuers and verifiers of this process.
    public var ring: SigningKeyRing {
        SigningKeyRing(current: signing, previous: published.dropFirst().map(\.publicKey))
    }
}

/// A P-256 key that signs, with its name.
public struct JoseSigningKey: Sendable {
    /// `kid`: the thumbprint of the public key (RFC 7638).
    public let identifier: String
    let privateKey: P256PrivateKey

    /// Names the key by the thumbprint of its public key.
    public init(_ privateKey: P256PrivateKey) {
        self.privateKey = privateKey
        identifier = JSONWebKey.thumbprint(.p256(privateKey.publicKey))
    }

    /// - Throws: `CryptographyError` naming what is wrong with the file.
    public init(pemFile path: String) throws(CryptographyError) { self.init(try P256PrivateKey(pemFile: path)) }

    public var publicKey: JSONWebKey { JSONWebKey(.p256(privateKey.publicKey), identifier: identifier) }
}
