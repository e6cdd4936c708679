internal import Catalogue
internal import Clocks
internal import Contracts
internal import Cryptography
internal import Storage
internal import Synchronization
internal import Tokens

/// Finds out who a platform says that its user is (rest-v1 §2.6). A token that does not hold counts as none.
///
/// A token that was checked once is remembered by its digest, for as long as the catalogue stays the same: devices send it on every call.
final class PlatformIdentities: Sendable {
    private struct CheckedToken: Sendable {
        /// `nil`: it did not hold.
        let identity: PlatformIdentity?
        let expiresAt: Timestamp
        let version: UInt64
    }

    private struct State {
        var checked: BoundedCache<[UInt8], CheckedToken>
        var verifier = PlatformIdentityVerifier(keys: [:])
        var version: UInt64?
    }

    private let clock: any WallClock
    private let state: Mutex<State>

    /// - Parameter capacity: How many checked tokens are remembered, at least 2.
    init(clock: any WallClock, capacity: Int = 16_384) {
        self.clock = clock
        state = Mutex(State(checked: BoundedCache(capacity: capacity)))
    }

    /// - Parameter token: As it was sent; empty: none was.
    func identity(of token: String, in catalogue: Catalogue) -> PlatformIdentity? {
        guard !token.isEmpty, !catalogue.configuration.platformIdentityIssuers.isEmpty else { return nil }
        let digest = SHA256.hash(token)
        let now = clock.now()
        let (known, verifier) = state.withLock { state in (state.checked[digest], Self.verifier(&state, catalogue)) }
        if let known, known.version == catalogue.version { return now < known.expiresAt ? known.identity : nil }
        let claims: PlatformIdentityClaims?
        do throws(TokenRejection) {
            claims = try verifier.verify(token, now: now)
        } catch .notYetValid {
            // It will hold later: nothing to remember.
            return nil
        } catch {
            claims = nil
        }
        let identity = claims.map(PlatformIdentity.init(claims:))
        let entry = CheckedToken(identity: identity, expiresAt: claims?.expiresAt ?? now, version: catalogue.version)
        state.withLock { $0.checked[digest] = entry }
        return identity
    }

    /// The keys of the issuers are read once per version of the catalogue; an issuer whose keys cannot be read is not believed.
    private static func verifier(_ state: inout State, _ catalogue: Catalogue) -> PlatformIdentityVerifier {
        guard state.version != catalogue.version else { return state.verifier }
        let sets = catalogue.configuration.platformIdentityIssuers.compactMap { issuer in
            (try? JSONWebKeySet(json: issuer.jwks)).map { (issuer.issuer, $0) }
        }
        state.verifier = PlatformIdentityVerifier(keys: Dictionary(texts: sets) { first, _ in first })
        state.version = catalogue.version
        return state.verifier
    }
}

extension PlatformIdentity {
    /// SHA-256 of issuer ‖ 0x00 ‖ subject: neither is stored.
    fileprivate init(claims: PlatformIdentityClaims) {
        self.init(Base64.url.encode(SHA256.hash(Array(claims.issuer.utf8) + [0] + Array(claims.subject.utf8))))
    }
}
