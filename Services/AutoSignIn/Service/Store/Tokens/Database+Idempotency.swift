internal import Clocks
internal import Faults
internal import Identifiers
internal import Storage

/// Statements about answers that are kept for a repeated call.
extension Database {
    func keptAnswer(_ place: Digest, now: Timestamp) throws -> (request: Digest, answer: SealedBytes)? {
        try first("SELECT request, answer FROM idempotency WHERE place = ? AND expires_at_ms > ?", [place, now]) { ($0.next(), $0.next()) }
    }

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
