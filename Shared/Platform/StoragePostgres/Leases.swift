internal import Storage
internal import Synchronization

/// The leases of a copy: rows of a table, which say who has what, and until when by the server's clock. A copy that has one takes it again in time; a
/// copy that is gone loses it.
final class Leases: Sendable {
    private struct Held {
        let lease: Lease
        let until: ContinuousClock.Instant
    }

    private struct State {
        var held: [String: Held] = [:]
        var asked: [(name: String, answer: @Sendable (Lease?) -> Void)] = []
        var renewed: ContinuousClock.Instant = .now
        var cleared: ContinuousClock.Instant = .now
        var isClosed = false
    }

    private static let (lease, renewal, clearing): (Duration, Duration, Duration) = (.seconds(30), .seconds(10), .seconds(10))
    /// The lease that this engine keeps for itself.
    private static let own = "clear commit_mark"
    /// Those that each copy asks for by itself.
    private static let usual = [own, StandbyGauges.lease]
    private static let take: Statement = """
        INSERT INTO duty (name, holder, until_ms, fence) VALUES (?1, ?2, \(Heartbeat.clock) + ?3, 1) ON CONFLICT (name) DO UPDATE SET holder = excluded.holder,
            until_ms = excluded.until_ms, fence = CASE WHEN duty.holder = excluded.holder THEN duty.fence ELSE duty.fence + 1 END
        WHERE duty.holder = excluded.holder OR duty.until_ms < \(Heartbeat.clock) RETURNING fence
        """
    private static let clear: [Statement] = [
        "DELETE FROM commit_mark WHERE made_at_ms < \(Heartbeat.clock) - \(CommitMark.life)",
        "DELETE FROM heartbeat WHERE beat_at_ms < \(Heartbeat.clock) - 86400000",
    ]

    private let holder: String
    private let state = Mutex(State())

    init(holder: String) { self.holder = holder }

    /// The lease that this copy has for certain.
    func known(_ name: String) -> Lease? {
        state.withLock { state in state.held[name].flatMap { $0.until > .now ? $0.lease : nil } }
    }

    /// True when this copy has it as far as it heard: while a server commits nothing, nobody can take it.
    func had(_ name: String) -> Bool { state.withLock { $0.held[name] != nil } }

    /// Gets an answer at the next `keep`.
    func ask(_ name: String, _ answer: @escaping @Sendable (Lease?) -> Void) {
        let isClosed = state.withLock { state in
            if !state.isClosed { state.asked.append((name, answer)) }
            return state.isClosed
        }
        if isClosed { answer(nil) }
    }

    /// Takes what was asked for, and again what this copy has.
    /// - Throws: `PostgresError`.
    func keep(on connection: PostgresConnection) throws {
        let now = ContinuousClock.now
        let (names, mustClear) = state.withLock { state -> (Set<String>, Bool) in
            var names = Set(state.asked.map(\.name))
            if state.renewed.duration(to: now) >= Self.renewal {
                state.renewed = now
                names.formUnion(state.held.keys)
            }
            guard state.cleared.duration(to: now) >= Self.clearing else { return (names, false) }
            state.cleared = now
            names.formUnion(Self.usual)
            return (names, true)
        }
        for name in names.sorted() { try take(name, connection) }
        answer(names)
        guard mustClear, known(Self.own) != nil else { return }
        for statement in Self.clear { _ = try connection.run([.init(statement)], timeout: ServerHealth.trust) }
    }

    private func take(_ name: String, _ connection: PostgresConnection) throws {
        let until = ContinuousClock.now + Self.lease
        let arguments: Arguments = [name, holder, Self.lease.wholeMilliseconds]
        let fence: Int64?
        switch try connection.run([.init(Self.take, arguments)], timeout: ServerHealth.trust).first {
        case .rows(let rows): fence = try rows.first { $0.next() }
        case .failed(let error): throw error
        case .skipped, nil: throw PostgresError.lost("the server skipped a statement")
        }
        state.withLock { $0.held[name] = fence.map { Held(lease: Lease(fence: $0), until: until) } }
    }

    private func answer(_ names: Set<String>) {
        let answers = state.withLock { state in
            // A lease that was asked for meanwhile waits for the next turn.
            let answered = state.asked.filter { names.contains($0.name) }
            state.asked.removeAll { names.contains($0.name) }
            return answered
        }
        for (name, answer) in answers { answer(known(name)) }
    }

    /// The server does not answer.
    func refuseAll() {
        let answers = state.withLock { state in
            defer { state.asked = [] }
            return state.asked
        }
        for (_, answer) in answers { answer(nil) }
    }

    func giveBack(on connection: PostgresConnection) {
        guard state.withLock({ !$0.held.isEmpty }) else { return }
        // Otherwise they are over by themselves.
        _ = try? connection.run([.init("UPDATE duty SET until_ms = 0 WHERE holder = ?", [holder])], timeout: ServerHealth.trust)
    }

    func close() {
        state.withLock { state in
            state.isClosed = true
            state.held = [:]
        }
        refuseAll()
    }
}
