import AuthorizationService
import Clocks
import Faults
import Synchronization

/// The store of tests.
final class InMemoryAuthorizationStore: AuthorizationStore {
    private let tokens = Mutex<[AuthzTokenKey: AuthzToken]>([:])
    private let memories = Mutex(0)
    private let writes = Mutex(0)

    /// How often memory was to be forgotten.
    var forgottenMemories: Int { memories.withLock { $0 } }

    /// How often a permit was written.
    var saves: Int { writes.withLock { $0 } }

    var count: Int { tokens.withLock { $0.count } }

    func save(_ token: AuthzToken) async throws(Fault) {
        writes.withLock { $0 += 1 }
        tokens.withLock { $0[token.key] = token }
    }

    func token(_ key: AuthzTokenKey, counts: (AuthzToken) -> Bool) async throws(Fault) -> AuthzToken? {
        tokens.withLock { $0[key] }
    }

    func forget(expiredBefore moment: Timestamp) async throws(Fault) {
        tokens.withLock { $0 = $0.filter { $0.value.expiresAt > moment } }
    }

    func forgetMemory() { memories.withLock { $0 += 1 } }
}
