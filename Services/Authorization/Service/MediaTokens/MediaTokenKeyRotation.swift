public import Clocks
internal import Cryptography
public import Logging
internal import Synchronization
public import Tokens

/// The media token keys of a process and their change without a restart (design §4): what the files name is published at once and signs
/// after the lead time; what signed before stays published until its tokens are over.
public final class MediaTokenKeyRotation: Sendable {
    /// No media token lives longer (rest-v1 §7, `media_token_ttl_s`).
    static let tokenLife: Duration = .seconds(3600)

    private struct State {
        var reference: KeySuccession<ReferenceKey>
        var jws: KeySuccession<SigningKey>
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
        jwsKeys = SigningKeys(state.jws.ring)
        published = try PublishedMediaTokenKeys(certificates: Self.certificates(state.reference), jwsKeys: jwsKeys)
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
                state.reference.adopt(current: files.reference, next: nil, now: now)
                state.jws.adopt(current: files.jwsKey, next: files.nextJwsKey, now: now)
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

    /// Publishing comes before signing.
    private func put(_ state: State) {
        do throws(CryptographyError) {
            try published.replace(certificates: Self.certificates(state.reference))
            referenceKey.replace(state.reference.signing.key)
        } catch {
            logger.error("media_token_keys.publication_failed", metadata: ["reason": "\(error)"])
        }
        jwsKeys.replace(state.jws.ring)
    }

    private static func certificates(_ keys: KeySuccession<ReferenceKey>) -> [Certificate] {
        var seen: Set<Certificate> = []
        return keys.published.flatMap(\.certificates).filter { seen.insert($0).inserted }
    }
}
