internal import Clocks
internal import Faults
internal import Storage

/// Statements about answers that are kept for a repeated call.
extension Database {
    func keptAnswer(_ place: Digest, now: Timestamp) throws -> (request: Digest, answer: SealedBytes)? {
        let sql = "SELECT request, answer FROM idempotency WHERE place = ? AND expires_at_ms > ? AND answer IS NOT NULL"
        return try Row.fetchOne(cachedStatement(sql: sql), arguments: [place, now]).map { ($0["request"], $0["answer"]) }
    }

    func keep(_ answer: SealedBytes, request: Digest, at place: Digest, until: Timestamp) throws {
        let sql = "INSERT OR REPLACE INTO idempotency (place, request, answer, expires_at_ms) VALUES (?, ?, ?, ?)"
        try cachedStatement(sql: sql).execute(arguments: [place, request, answer, until])
    }

    /// For an operation whose effect is the same when it is repeated: only the request is remembered.
    /// - Throws: `idempotency_key_reused` when another one came before.
    func claim(_ place: IdempotentPlace, now: Timestamp, until: Timestamp) throws {
        let known = try Digest.fetchOne(
            cachedStatement(sql: "SELECT request FROM idempotency WHERE place = ? AND expires_at_ms > ?"), arguments: [place.digest, now])
        if let known {
            guard known == place.request else { throw Idempotency.reused }
            return
        }
        let sql = "INSERT OR REPLACE INTO idempotency (place, request, answer, expires_at_ms) VALUES (?, ?, NULL, ?)"
        try cachedStatement(sql: sql).execute(arguments: [place.digest, place.request, until])
    }
}
