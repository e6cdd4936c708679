internal import Clocks
internal import Faults
internal import Logging
internal import Storage

/// What happens by itself: rotation, and the end of what nobody uses (apple §4).
struct Housekeeping: Sendable {
    let base: AutoSignInBase

    static let interval: Duration = .seconds(60)
    private static let batch = 100

    /// One round a minute, by one of the copies on several hosts, until the task is cancelled.
    func run() async {
        repeat {
            guard await base.parts.store.store.duty("housekeeping") != nil else { continue }
            do throws(Fault) {
                try await round()
            } catch {
                base.parts.logger.warning("housekeeping_failed", metadata: ["error": "\(error)"])
            }
        } while (try? await Task.sleep(for: Self.interval)) != nil
    }

    /// - Throws: Faults of the storage.
    func round() async throws(Fault) {
        try await TokenRotation(base: base).rotateDue()
        while try await endIdleFamilies() == Self.batch {}
        while try await endIdleSessions() == Self.batch {}
    }

    private func endIdleFamilies() async throws(Fault) -> Int {
        let now = base.parts.clock.now()
        let ended = try await base.parts.store.change { database, touched in
            let idle = try database.idleFamilies(now: now, limit: Self.batch)
            for family in idle { try database.revoke(family.id, .idle, &touched, now: now) }
            return idle.map(\.id)
        }
        for _ in ended { base.parts.metrics.revoked(RevocationReason.idle.label) }
        if !ended.isEmpty { base.outbox.wake() }
        return ended.count
    }

    private func endIdleSessions() async throws(Fault) -> Int {
        let now = base.parts.clock.now()
        let ended = try await base.parts.store.change { database, touched in
            let idle = try database.idleSessions(now: now, limit: Self.batch)
            try database.end(idle, now: now)
            touched.sessions.formUnion(idle.map(\.id))
            return idle.count
        }
        if ended > 0 { base.outbox.wake() }
        return ended
    }
}
