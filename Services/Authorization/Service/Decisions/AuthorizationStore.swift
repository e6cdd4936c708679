public import Clocks
public import Faults

/// Where authz tokens are kept.
public protocol AuthorizationStore: Sendable {
    /// Keeps the token in place of an earlier one of the same key; durable when it returns.
    /// - Throws: `Fault` of the store.
    func save(_ token: AuthzToken) async throws(Fault)

    /// The token of that key, also when it has expired, as long as it is remembered.
    /// - Throws: `Fault` of the store.
    func token(_ key: AuthzTokenKey) async throws(Fault) -> AuthzToken?

    /// Forgets tokens that expired at or before `moment`.
    /// - Throws: `Fault` of the store.
    func forget(expiredBefore moment: Timestamp) async throws(Fault)
}
