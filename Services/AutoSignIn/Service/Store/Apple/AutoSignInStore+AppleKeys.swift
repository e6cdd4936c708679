internal import Faults
internal import Foundation
internal import Storage

/// Apple's keys on disk, so that a restart while Apple is away costs no sign-in (apple §4).
extension AutoSignInStore: AppleKeyStore {
    func keptKeys() async throws(Fault) -> KeptAppleKeys? {
        try await store.read { database in
            try Row.fetchOne(database.cachedStatement(sql: "SELECT * FROM apple_key_set")).map { row in
                KeptAppleKeys(
                    document: [UInt8](row["document"] as Data), fetchedAt: row["fetched_at_ms"],
                    lifetime: .milliseconds(row["lifetime_ms"] as Int64))
            }
        }
    }

    func keep(_ keys: KeptAppleKeys) async throws(Fault) {
        try await store.write { database in
            let sql = "INSERT OR REPLACE INTO apple_key_set (id, document, fetched_at_ms, lifetime_ms) VALUES (1, ?, ?, ?)"
            try database.cachedStatement(sql: sql)
                .execute(arguments: [Data(keys.document), keys.fetchedAt, keys.lifetime.components.seconds * 1000])
        }
    }
}
