public import Clocks
public import Faults

/// Where authz tokens are kept.
public protocol AuthorizationStore: Sendable {
    /// Keeps the token in place of an earlier one of the same key; durable when it returns.
    /// - Throws: `Fault` of the store.
    func save(_ token: AuthzToken) async throws(Fault)

    /// The token of that key, also when it has expired, as long as it is remembered.
    /// - Parameter counts: Whether a token permits now. One that does may be an older one that is good still; any other answer is that of the store.
    /// - Throws: `Fault` of the store.
    func token(_ key: AuthzTokenKey, counts: (AuthzToken) -> Bool) async throws(Fault) -> AuthzToken?

    /// Forgets tokens that expired at or before `moment`.
    /// - Throws: `Fault` of the store.
    func forget(expiredBefore moment: Timestamp) async throws(Fault)

    /// Forgets what memory knows of tokens: their keys name people there.
    func forgetMemory()
}

extension AuthorizationStore {
    /// For a store without memory.
    public func forgetMemory() {}

    /// The newest token of that key, also when it has expired, as long as it is remembered.
    /// - Throws: `Fault` of the store.
    public func token(_ key: AuthzTokenKey) async throws(Fault) -> AuthzToken? { try await token(key) { _ in false } }
}
