internal import Octets
internal import Synchronization

/// Symmetric keys of one purpose, which change while they are in use: the current one seals, and older ones open what they have sealed.
public final class SymmetricKeyRing: Sendable {
    private let keys: Mutex<[SymmetricKey]>

    /// - Parameter older: Newest first.
    public init(current: SymmetricKey, older: [SymmetricKey] = []) { keys = Mutex([current] + older) }

    /// Seals and signs.
    public var current: SymmetricKey { keys.withLock { $0[0] } }

    /// The current key, then older ones, newest first.
    public var all: [SymmetricKey] { keys.withLock { $0 } }

    /// Replaces the keys at once. Earlier keys stay after them as long as this object lives. So a key may be replaced without naming the former one:
    /// only a new process needs it.
    public func adopt(current: SymmetricKey, older: [SymmetricKey]) {
        keys.withLock { keys in
            let given = [current] + older
            keys = given + keys.filter { key in !given.contains { $0.isEqual(to: key) } }.prefix(Self.mostFormer)
        }
    }

    /// Former keys that are remembered.
    private static let mostFormer = 8
}
