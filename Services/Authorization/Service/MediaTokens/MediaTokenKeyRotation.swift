public import Clocks
internal import Cryptography
public import Logging
internal import Synchronization
public import Tokens

/// The media token keys of a process and their change without a restart (decision 0052): what the files name is published at once and signs
/// after the lead time; what signed before stays published until its tokens are over.
public final class MediaTokenKeyRotation: Sendable {
    /// No media token lives longer (rest-v1 §7, `media_token_ttl_s`).
    static let tokenLife: Duration = .seconds(3600)

    private struct State {
        var reference: KeySuccession<ReferenceKey>
        var jws: KeySuccession<SigningKey>
        /// Of other copies' files; `nil`: copies do not tell each other.
        var shared: (certificates: [Certificate], jws: [JSONWebKey])?

        var ring: SigningKeyRing {
            var seen: Set<String> = [jws.signing.identifier]
            let others = (jws.published.map(\.publicKey) + (shared?.jws ?? [])).filter { seen.insert($0.identifier).inserted }
            return SigningKeyRing(current: jws.signing, previous: others)
        }

        var certificates: [Certificate] {
            var seen: Set<Certificate> = []
            return (reference.published.flatMap(\.certificates) + (shared?.certificates ?? [])).filter { seen.insert($0).inserted }
        }
    }

    /// For the issuer.
    public let referenceKey: ReferenceSigningKey
    /// For the issuer.
    public let jwsKeys: SigningKeys
    /// For whoever asks.
    public let published: PublishedMediaTokenKeys
    private let state: Mutex<State>
    private let clock: any WallClock
    private let logger: Logger

    /// - Parameter lead: For how long a key is published before it signs; not for those that the process starts with.
    /// - Throws: An error of the cryptographic library when a certificate cannot be encoded.
    public init(_ files: MediaTokenKeyFiles, lead: Duration, clock: any WallClock = SystemClock(), logger: Logger) throws {
        let now = clock.now()
        let state = State(
            reference: KeySuccession(current: files.reference, lead: lead, tokenLife: Self.tokenLife, now: now),
            jws: KeySuccession(current: files.jwsKey, next: files.nextJwsKey, lead: lead, tokenLife: Self.tokenLife, now: now))
        referenceKey = ReferenceSigningKey(files.reference.key)
        jwsKeys = SigningKeys(state.ring)
        published = try PublishedMediaTokenKeys(certificates: state.certificates, jwsKeys: jwsKeys)
        self.state = Mutex(state)
        self.clock = clock
        self.logger = logger
    }

    /// Takes in what the files hold now.
    /// - Parameter load: Reads them; when it throws, the old keys stay.
    public func reload(_ load: () throws(MediaTokenKeyProblem) -> MediaTokenKeyFiles) {
        do throws(MediaTokenKeyProblem) {
            let files = try load()
            let now = clock.now()
            state.withLock { state in
                // Where copies tell each other, a key's lead begins when all can know it.
                let since = state.shared == nil ? now : KeySuccession<SigningKey>.never
                state.reference.adopt(current: files.reference, next: nil, now: since)
                state.jws.adopt(current: files.jwsKey, next: files.nextJwsKey, now: since)
                _ = state.reference.advance(now: now)
                _ = state.jws.advance(now: now)
                put(state)
            }
            logger.info("media_token_keys.reloaded")
        } catch {
            logger.error("media_token_keys.reload_refused", metadata: ["key": "authorization.\(error.key)", "reason": "\(error.problem)"])
        }
    }

    /// Lets keys take over whose time has come; to be called every few seconds.
    public func advance() {
        let now = clock.now()
        state.withLock { state in
            let (reference, jws) = (state.reference.advance(now: now), state.jws.advance(now: now))
            if reference || jws { put(state) }
        }
    }

    /// What is published by the files of this process, for its copies.
    var own: (certificates: [Certificate], jws: [JSONWebKey]) {
        state.withLock { ($0.reference.published.flatMap(\.certificates), $0.jws.published.map(\.publicKey)) }
    }

    /// Publishes what all copies' files hold. From the first call on, a new key signs only when it has been among these for the lead time.
    /// - Parameter since: By fingerprint or name, since when each has been published.
    func share(certificates: [Certificate], jws: [JSONWebKey], since: [String: Timestamp]) {
        state.withLock { state in
            state.shared = (certificates, jws)
            for (identifier, moment) in since {
                state.reference.note(identifier, publishedSince: moment)
                state.jws.note(identifier, publishedSince: moment)
            }
            put(state)
        }
    }

    /// Publishing comes before signing.
    private func put(_ state: State) {
        do throws(CryptographyError) {
            try published.replace(certificates: state.certificates)
            referenceKey.replace(state.reference.signing.key)
        } catch {
            logger.error("media_token_keys.publication_failed", metadata: ["reason": "\(error)"])
        }
        jwsKeys.replace(state.ring)
    }
}
