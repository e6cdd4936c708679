public import Clocks
public import Cryptography
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
