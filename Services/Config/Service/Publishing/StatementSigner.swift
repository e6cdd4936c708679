public import Clocks
public import Faults
internal import Tokens

/// Signs software statements with a key that services know.
public struct StatementSigner: Sendable {
    let keys: StatementKeys
    private let store: CatalogueStore
    private let issuer: String
    private let clock: any WallClock

    /// - Parameters:
    ///   - keys: Of this copy.
    ///   - store: Says which are published, and since when.
    ///   - issuer: `iss`, a name of this deployment.
    public init(keys: StatementKeys, store: CatalogueStore, issuer: String, clock: any WallClock) {
        self.keys = keys
        self.store = store
        self.issuer = issuer
        self.clock = clock
    }

    /// `kid` of the key that signs now.
    /// - Throws: `unavailable` when none does, or the store does not answer.
    public func signingKeyName() async throws(Fault) -> String { try await signingKey().identifier }

    /// - Returns: `kid` of the key that signs now, if another one did when this was asked last.
    public func takenOver() async -> String? {
        guard let name = try? await signingKeyName(), keys.isNews(name) else { return nil }
        return name
    }

    /// - Throws: As `signingKeyName`; `internal` when the key cannot sign.
    func issue(_ statement: SoftwareStatement) async throws(Fault) -> String {
        let ring = SigningKeyRing(current: try await signingKey())
        return try SoftwareStatementIssuer(keys: SigningKeys(ring), issuer: issuer, clock: clock).issue(statement)
    }

    private func signingKey() async throws(Fault) -> SigningKey {
        let now = clock.now()
        return try keys.signing(among: try await store.read(now: now) { try $0.statementKeys() }, now: now)
    }
}
