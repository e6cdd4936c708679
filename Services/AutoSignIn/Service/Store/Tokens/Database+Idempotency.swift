internal import Clocks
internal import Faults
internal import Identifiers
internal import Storage

/// Statements about answers that are kept for a repeated call.
extension Database {
    /// - Returns: False when an answer that still counts is there: somebody else's call had the effect.
    func keep(_ answer: SealedBytes, request: Digest, at place: Digest, now: Timestamp, until: Timestamp) throws -> Bool {
        let claim: Statement = """
            INSERT INTO idempotency (place, request, answer, expires_at_ms) VALUES (?, ?, ?, ?)
            ON CONFLICT (place) DO UPDATE SET request = excluded.request, answer = excluded.answer, expires_at_ms = excluded.expires_at_ms
            WHERE idempotency.expires_at_ms <= ?
            """
        return try run(claim, [place, request, answer, until, now]) == 1
    }
}

extension AutoSignInStore {
    /// - Throws: Faults of the storage.
    func keptAnswer(_ place: Digest, now: Timestamp) async throws(Fault) -> (request: Digest, answer: SealedBytes)? {
        try await store.first("SELECT request, answer FROM idempotency WHERE place = ? AND expires_at_ms > ?", [place, now]) {
            ($0.next(), $0.next())
        }
    }
}

extension IdempotentPlace {
    /// Takes the place for a call that has no answer to keep. Changes one row, or none when the key came with another request.
    func claim(now: Timestamp) -> BoundStatement {
        BoundStatement(
            """
            INSERT INTO idempotency (place, request, answer, expires_at_ms) VALUES (?, ?, ?, ?)
            ON CONFLICT (place) DO UPDATE SET request = excluded.request, answer = excluded.answer, expires_at_ms = excluded.expires_at_ms
            WHERE idempotency.expires_at_ms <= ? OR idempotency.request = excluded.request
            """, [digest, request, SealedBytes(bytes: []), now + Idempotency.memory, now])
    }
}
