internal import Clocks
internal import Faults
internal import Storage

/// Statements about answers that are kept for a repeated call.
extension Database {
    func keptAnswer(_ place: Digest, now: Timestamp) throws -> (request: Digest, answer: SealedBytes)? {
        let sql = "SELECT request, answer FROM idempotency WHERE place = ? AND expires_at_ms > ?"
        return try Row.fetchOne(cachedStatement(sql: sql), arguments: [place, now]).map { ($0["request"], $0["answer"]) }
    }

    func keep(_ answer: SealedBytes, request: Digest, at place: Digest, until: Timestamp) throws {
        let sql = "INSERT OR REPLACE INTO idempotency (place, request, answer, expires_at_ms) VALUES (?, ?, ?, ?)"
        try cachedStatement(sql: sql).execute(arguments: [place, request, answer, until])
    }
}
