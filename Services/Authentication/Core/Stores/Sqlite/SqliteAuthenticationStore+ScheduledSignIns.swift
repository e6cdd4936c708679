internal import Clocks
internal import Contracts
internal import Faults
internal import Storage

extension SqliteAuthenticationStore: ScheduledSignInStore {
    func takeTurn(_ mvpd: MvpdID, first: Timestamp, next: Timestamp, now: Timestamp) async throws(Fault) -> ScheduledSignInTurn {
        let known = try await store.first("SELECT due_at_ms, state FROM scheduled_sign_in WHERE mvpd = ?", [mvpd]) { columns in
            (due: columns.next() as Timestamp, state: columns.next() as [UInt8])
        }
        guard let known else {
            let insert: Statement = "INSERT INTO scheduled_sign_in (mvpd, due_at_ms, state) VALUES (?, ?, ?) ON CONFLICT (mvpd) DO NOTHING"
            try await store.change(insert, [mvpd, first, [] as [UInt8]], of: "scheduled_sign_in")
            return .notYet(until: first, latest: nil)
        }
        let state = known.state.isEmpty ? nil : try ScheduledSignInState(serialized: known.state)
        guard known.due <= now || known.due > next else { return .notYet(until: known.due, latest: state) }
        // Whoever is first moves it.
        let take: Statement = "UPDATE scheduled_sign_in SET due_at_ms = ? WHERE mvpd = ? AND due_at_ms = ?"
        let isMine = try await store.change(take, [next, mvpd, known.due], of: "scheduled_sign_in") == 1
        return isMine ? .mine(before: state) : .notYet(until: next, latest: state)
    }

    func keep(_ state: ScheduledSignInState, of mvpd: MvpdID) async throws(Fault) {
        let update: Statement = "UPDATE scheduled_sign_in SET state = ? WHERE mvpd = ?"
        try await store.change(update, [try state.serialized(), mvpd], of: "scheduled_sign_in")
    }

    func scheduledSignIns() async throws(Fault) -> [ScheduledSignInState] {
        let states = try await store.all("SELECT state FROM scheduled_sign_in ORDER BY mvpd") { $0.next() as [UInt8] }
        var read: [ScheduledSignInState] = []
        for state in states where !state.isEmpty { read.append(try ScheduledSignInState(serialized: state)) }
        return read
    }
}
