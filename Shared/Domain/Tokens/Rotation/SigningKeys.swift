internal import Synchronization

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
