public import Clocks
public import Faults
internal import Synchronization
public import Tokens

/// Signs software statements with a key that services know.
public struct StatementSigner: Sendable {
    let keys: StatementKeys
    private let store: CatalogueStore
    private let issuer: String
    private let clock: any WallClock

    /// - Parameters:
    ///   - keys: The keys of this copy.
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

    private func signingKey() async throws(Fault) -> JoseSigningKey {
        let now = clock.now()
        return try keys.signing(among: try await store.read(now: now) { try $0.statementKeys() }, now: now)
    }
}

/// The keys of software statements in this copy's files, and which of them signs. It is the one that the files say, once services have had the time
/// to hear of it. All copies publish what any of them has.
public final class StatementKeys: Sendable {
    private struct State {
        var files: SigningKeyFiles
        /// Keys that the files had before, the last of them first.
        var former: [JoseSigningKey] = []
        /// The one that was told last.
        var told: String?
    }

    private let state: Mutex<State>
    private let lead: Duration

    /// - Parameter lead: For how long a key is published before it signs.
    public init(_ files: SigningKeyFiles, lead: Duration) {
        state = Mutex(State(files: files))
        self.lead = lead
    }

    /// The keys that this copy publishes.
    public var published: [JSONWebKey] {
        state.withLock { state in
            var seen: Set<OctetText> = []
            let keys = ([state.files.current] + (state.files.next.map { [$0] } ?? [])).map(\.publicKey) + state.files.older
            return keys.filter { seen.insert(OctetText($0.identifier)).inserted }
        }
    }

    /// Takes the keys that the files hold now.
    public func adopt(_ files: SigningKeyFiles) {
        state.withLock { state in
            let former = [state.files.current] + state.former
            state.former = former.filter { $0.identifier != files.current.identifier }
            state.files = files
        }
    }

    /// True when a key is another one than was asked about last; the first is not.
    func isNews(_ name: String) -> Bool {
        state.withLock { state in
            defer { state.told = name }
            return state.told.map { $0 != name } ?? false
        }
    }

    /// The key that signs: the first that services know, of that of the files, those before it, and the next one.
    /// - Parameter known: The published keys.
    /// - Throws: `unavailable` when there is none.
    func signing(among known: [PublishedKey], now: Timestamp) throws(Fault) -> JoseSigningKey {
        let state = state.withLock { $0 }
        let since = Dictionary(texts: known.filter { $0.retiredAt == nil }.map { ($0.name, $0.since) }) { first, _ in first }
        let candidates = [state.files.current] + state.former + (state.files.next.map { [$0] } ?? [])
        if let key = candidates.first(where: { since[$0.identifier].map { $0 + lead <= now } ?? false }) { return key }
        guard let soonest = candidates.compactMap({ since[$0.identifier] }).min() else {
            throw Fault(
                .unavailable, "No key of software statements that this copy has is published; it was taken out, or is on its way.",
                retryAfter: .seconds(5))
        }
        throw Fault(
            .unavailable, "The key of software statements is new, and not every service may know it yet.", retryAfter: soonest + lead - now)
    }
}
