public import Cryptography
internal import Synchronization

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
