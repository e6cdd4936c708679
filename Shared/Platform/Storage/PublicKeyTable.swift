public import Clocks
public import Faults
internal import Synchronization

/// A public key, or a certificate, that the files of some copy hold.
public struct SharedPublicKey: Sendable, Hashable {
    public let identifier: String
    /// As text, for example a JWK.
    public let content: String
    /// Since when all copies can know it.
    public let since: Timestamp

    public init(_ identifier: String, content: String, since: Timestamp) {
        self.identifier = identifier
        self.content = content
        self.since = since
    }
}

/// The public keys of copies on several hosts, in a table of their store. Each copy adds the keys of its files, and counts the keys that any of them
/// has. A key that no copy's files have any more is gone within half a minute. The copies' own memory of former keys is their own.
public final class PublicKeyTable: Sendable {
    private struct Row {
        let key: SharedPublicKey
        let seen: Timestamp
    }

    /// A copy says this often what its files hold, and that counts this long.
    private static let (telling, counting): (Duration, Duration) = (.seconds(5), .seconds(20))
    /// A key that comes back after so long is a new one.
    private static let memory: Duration = .seconds(86_400)

    private let store: Store
    private let name: String
    private let clock: any WallClock
    /// Each key was told last at this time.
    private let told = Mutex<[String: Timestamp]>([:])

    /// - Parameters:
    ///   - store: One that is distributed.
    ///   - name: The use of the keys, for example `access token`.
    public init(_ store: Store, name: String, clock: any WallClock) {
        self.store = store
        self.name = name
        self.clock = clock
    }

    /// Tells the other copies what the files hold here.
    /// - Parameter own: Names and contents.
    /// - Returns: The keys of all copies' files, the oldest first.
    /// - Throws: Faults of the store.
    public func exchange(_ own: [(identifier: String, content: String)]) async throws(Fault) -> [SharedPublicKey] {
        let now = clock.now()
        for key in own where told.withLock({ $0[key.identifier].map { $0 + Self.telling <= now } ?? true }) {
            try await tell(key.identifier, key.content, now)
        }
        let rows = try await store.all("SELECT kid, content, since_ms, seen_ms FROM signing_key WHERE name = ? ORDER BY since_ms, kid", [name]) {
            Row(key: SharedPublicKey($0.next(), content: $0.next(), since: $0.next()), seen: $0.next())
        }
        if rows.contains(where: { $0.seen + Self.memory < now }) {
            try await store.change("DELETE FROM signing_key WHERE name = ? AND seen_ms < ?", [name, now - Self.memory], of: name)
        }
        let here = Set(own.map { $0.identifier })
        return rows.filter { here.contains($0.key.identifier) || $0.seen + Self.counting > now }.map(\.key)
    }

    private func tell(_ identifier: String, _ content: String, _ now: Timestamp) async throws(Fault) {
        try await store.change(
            """
            INSERT INTO signing_key (name, kid, content, since_ms, seen_ms) VALUES (?1, ?2, ?3, ?4, ?4) ON CONFLICT (name, kid) DO UPDATE SET
                since_ms = CASE WHEN signing_key.seen_ms < ?5 THEN excluded.since_ms ELSE signing_key.since_ms END, seen_ms = excluded.seen_ms
            """, [name, identifier, content, now, now - Self.memory], of: name)
        told.withLock { $0[identifier] = now }
    }
}
