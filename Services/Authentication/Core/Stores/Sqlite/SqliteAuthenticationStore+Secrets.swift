package import Clocks
package import Faults
internal import Storage

extension SqliteAuthenticationStore: SecretStore {
    package func put(_ secret: SealedSecret) async throws(Fault) -> Bool? {
        try await store.write { database in
            let known: String? = try database.value("SELECT owner FROM sealed_secret WHERE reference = ?", [secret.reference])
            guard known == nil || known == secret.owner else { return nil }
            try database.run(
                """
                INSERT INTO sealed_secret (reference, owner, sealed, written_at_ms) VALUES (?, ?, ?, ?)
                ON CONFLICT (reference) DO UPDATE SET sealed = excluded.sealed, written_at_ms = excluded.written_at_ms
                """, [secret.reference, secret.owner, secret.sealed, secret.writtenAt])
            return known != nil
        }
    }

    package func sealedSecret(_ reference: SecretReference) async throws(Fault) -> SealedSecret? {
        try await store.first("SELECT \(SealedSecret.columns) FROM sealed_secret WHERE reference = ?", [reference]) { SealedSecret(columns: &$0) }
    }

    package func sealedSecrets() async throws(Fault) -> [SealedSecret] {
        try await store.all("SELECT \(SealedSecret.columns) FROM sealed_secret ORDER BY reference") { SealedSecret(columns: &$0) }
    }

    package func reseal(_ secret: SealedSecret, as sealed: [UInt8]) async throws(Fault) {
        try await store.change("UPDATE sealed_secret SET sealed = ? WHERE reference = ? AND sealed = ?", [sealed, secret.reference, secret.sealed])
    }
}

extension SealedSecret {
    fileprivate static let columns = "reference, owner, sealed, written_at_ms"

    fileprivate init(columns: inout ColumnReader) {
        self.init(reference: columns.next(), owner: columns.next(), sealed: columns.next(), writtenAt: columns.next())
    }
}

extension SqliteAuthenticationStore: AnnouncementStore {
    package func announcesIssuer(_ issuer: String) async throws(Fault) -> Bool {
        try await store.first("SELECT read_at_ms FROM announced_issuer WHERE issuer = ?", [issuer]) { $0.next() as Timestamp } != nil
    }

    package func note(_ issuer: String, announcesIssuer: Bool, at moment: Timestamp) async throws(Fault) {
        guard announcesIssuer else {
            try await store.change("DELETE FROM announced_issuer WHERE issuer = ?", [issuer])
            return
        }
        try await store.change(
            "INSERT INTO announced_issuer (issuer, read_at_ms) VALUES (?, ?) ON CONFLICT (issuer) DO UPDATE SET read_at_ms = excluded.read_at_ms",
            [issuer, moment])
    }
}

extension SqliteAuthenticationStore: NonceStore {
    package func takeNonce(_ digest: [UInt8], until end: Timestamp) async throws(Fault) -> Bool {
        try await store.change("INSERT INTO signed_nonce (digest, expires_at_ms) VALUES (?, ?) ON CONFLICT (digest) DO NOTHING", [digest, end]) > 0
    }
}
