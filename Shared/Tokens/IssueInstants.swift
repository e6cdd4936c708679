internal import Clocks

/// Chooses issue times so that no two reference tokens of one play are equal.
///
/// The reference form has nothing random, its time has whole seconds and its signature is deterministic: two calls within a second would
/// give the same token, which a backend that keeps the one-use rule refuses. The second call gets the second before, and so on; that
/// shortens its life by a second and every verifier accepts it.
struct IssueInstants: Sendable {
    /// How far back an issue time may lie, in seconds.
    static let reach: Int64 = 120

    private var used: [Subject: Set<Int64>] = [:]
    private var nextPruning: Int64 = 0

    struct Subject: Hashable {
        let sessionGUID: String
        let requestor: String
        let resource: String
        let mvpd: String
    }

    /// - Returns: The latest second not after `now` that was not given for this subject; `nil` when all within reach are.
    mutating func claim(_ subject: Subject, now: Timestamp) -> Timestamp? {
        prune(now.seconds)
        let oldest = now.seconds - Self.reach
        let seconds = used[subject, default: []].filter { $0 > oldest }
        guard let free = stride(from: now.seconds, to: oldest, by: -1).first(where: { !seconds.contains($0) }) else { return nil }
        used[subject] = seconds.union([free])
        return Timestamp(seconds: free)
    }

    /// Forgets what lies out of reach, once per reach.
    private mutating func prune(_ now: Int64) {
        guard now >= nextPruning else { return }
        nextPruning = now + Self.reach
        used = used.filter { $0.value.contains { $0 > now - Self.reach } }
    }
}
