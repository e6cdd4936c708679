internal import Faults
internal import Storage

/// Apple's keys on disk, so that a restart while Apple is away costs no sign-in (apple §4).
extension AutoSignInStore: AppleKeyStore {
    func keptKeys() async throws(Fault) -> KeptAppleKeys? {
        try await store.first("SELECT document, fetched_at_ms, lifetime_ms FROM apple_key_set") { columns in
            KeptAppleKeys(document: columns.next(), fetchedAt: columns.next(), lifetime: .milliseconds(columns.next() as Int64))
        }
    }

    /// Of several copies that fetch, the last to do so counts, whichever is the last to write.
    func keep(_ keys: KeptAppleKeys) async throws(Fault) {
        try await store.change(
            """
            INSERT INTO apple_key_set (id, document, fetched_at_ms, lifetime_ms) VALUES (1, ?, ?, ?)
            ON CONFLICT (id) DO UPDATE SET document = excluded.document, fetched_at_ms = excluded.fetched_at_ms,
                lifetime_ms = excluded.lifetime_ms WHERE apple_key_set.fetched_at_ms < excluded.fetched_at_ms
            """, [keys.document, keys.fetchedAt, keys.lifetime.components.seconds * 1000])
    }
}
