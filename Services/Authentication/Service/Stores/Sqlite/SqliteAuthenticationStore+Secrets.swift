internal import Clocks
internal import Faults
internal import Foundation
internal import Storage

extension SqliteAuthenticationStore: SecretStore {
    func put(_ secret: SealedSecret) async throws(Fault) -> Bool? {
        try await store.write { database in
            let known = try String.fetchOne(
                database, sql: "SELECT owner FROM sealed_secret WHERE reference = ?", arguments: [secret.reference])
            guard known == nil || known == secret.owner else { return nil }
            try database.execute(
                sql: """
                    INSERT INTO sealed_secret (reference, owner, sealed, written_at_ms) VALUES (?, ?, ?, ?)
                    ON CONFLICT (reference) DO UPDATE SET sealed = excluded.sealed, written_at_ms = excluded.written_at_ms
                    """, arguments: [secret.reference, secret.owner, Data(secret.sealed), secret.writtenAt])
            return known != nil
        }
    }

    func sealedSecret(_ reference: SecretReference) async throws(Fault) -> SealedSecret? {
        try await store.read { database in
            try Row.fetchOne(
                database, sql: "SELECT reference, owner, sealed, written_at_ms FROM sealed_secret WHERE reference = ?", arguments: [reference]
            ).map(SealedSecret.init(row:))
        }
    }

    func sealedSecrets() async throws(Fault) -> [SealedSecret] {
        try await store.read { database in
            try Row.fetchAll(database, sql: "SELECT reference, owner, sealed, written_at_ms FROM sealed_secret ORDER BY reference")
                .map(SealedSecret.init(row:))
        }
    }

    func reseal(_ secret: SealedSecret, as sealed: [UInt8]) async throws(Fault) {
        try await store.write { database in
            try database.execute(
                sql: "UPDATE sealed_secret SET sealed = ? WHERE reference = ? AND sealed = ?",
                arguments: [Data(sealed), secret.reference, Data(secret.sealed)])
        }
    }
}

extension SealedSecret {
    fileprivate init(row: Row) {
        self.init(
            reference: row["reference"], owner: row["owner"], sealed: [UInt8](row["sealed"] as Data), writtenAt: row["written_at_ms"])
    }
}
