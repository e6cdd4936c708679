public import Clocks
internal import Synchronization

/// The contents of the files of an issuer's keys.
public struct SigningKeyFiles: Sendable {
    /// Signs.
    public var current: SigningKey
    /// Will sign next; what it signs is good already.
    public var next: SigningKey?
    /// Signed before; what they signed is good still.
    public var older: [JSONWebKey]

    /// - Parameters:
    ///   - current: Signs.
    ///   - next: Will sign next; verifies already.
    ///   - older: Signed before; still verify.
    public init(current: SigningKey, next: SigningKey? = nil, older: [JSONWebKey] = []) {
        self.current = current
        self.next = next
        self.older = older
    }
}

/// The keys of an issuer and their change without a restart (decision 0052). The keys of the files verify at once, and a new key signs after the lead
/// time. The previous key verifies until its tokens have expired.
public final class SigningKeyRotation: Sendable {
    private struct State {
        var succession: KeySuccession<SigningKey>
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
            state.succession.adopt(current: files.current, next: files.next, now: state.shared == nil ? now : KeySuccession<SigningKey>.never)
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
