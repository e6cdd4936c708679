internal import CatalogueFiles
internal import Clocks
internal import ContractRuntime
internal import Contracts
internal import Storage

extension CatalogueLedger {
    /// Rules that have not ended, in the order of their start, without those of another programmer that had the requestor's id before.
    func activeRules() throws -> [ActiveDegradation] {
        try living(try rules("WHERE ends_at_ms > ? ORDER BY number", [now]))
    }

    /// The same as they are stored, encoded by whichever release made them.
    func activeRuleContents() throws -> [[UInt8]] {
        let contents: [[UInt8]] = try database.values("SELECT rule FROM degradation_rule WHERE ends_at_ms > ? ORDER BY number", [now])
        guard !contents.isEmpty else { return [] }
        let lives = try updatedLives()
        return try contents.filter { lives.cover(try DegradationRule(serialized: $0)) }
    }

    func rule(_ id: String) throws -> ActiveDegradation? { try living(try rules("WHERE id = ? AND ends_at_ms > ?", [id, now])).first }

    private func living(_ rules: [ActiveDegradation]) throws -> [ActiveDegradation] {
        guard !rules.isEmpty else { return [] }
        let lives = try updatedLives()
        return rules.filter { $0.rule.map(lives.cover) ?? false }
    }

    func keep(_ active: ActiveDegradation) throws {
        guard let rule = active.rule else { return }
        let last: Int64? = try database.value("SELECT max(number) FROM degradation_rule")
        try run(
            """
            INSERT INTO degradation_rule (id, rule, author, reason, ends_at_ms, number) VALUES (?, ?, ?, ?, ?, ?)
            ON CONFLICT (id) DO UPDATE SET rule = excluded.rule, ends_at_ms = excluded.ends_at_ms
            """, [rule.id, try rule.serialized(), active.author, active.reason, Int64(rule.endsAtMilliseconds), (last ?? 0) + 1])
    }

    /// Former rules that are remembered.
    private static let longestHistory = 1000

    /// Ends a rule now, or at its time where that is past, and remembers it.
    func end(_ active: ActiveDegradation) throws {
        guard let rule = active.rule else { return }
        try run("DELETE FROM degradation_rule WHERE id = ?", [rule.id])
        let number = (try database.value("SELECT max(number) FROM former_degradation_rule") ?? Int64(0)) + 1
        try run(
            "INSERT INTO former_degradation_rule (number, rule, author, reason, ended_at_ms) VALUES (?, ?, ?, ?, ?)",
            [number, try rule.serialized(), active.author, active.reason, min(Int64(clamping: rule.endsAtMilliseconds), now.milliseconds)])
        try run("DELETE FROM former_degradation_rule WHERE number <= ?", [number - Int64(Self.longestHistory)])
    }

    /// Newest first.
    func formerRules() throws -> [ActiveDegradation] {
        try living(
            try database.all("SELECT rule, author, reason, ended_at_ms FROM former_degradation_rule ORDER BY number DESC", []) { columns in
                ActiveDegradation(
                    rule: try DegradationRule(serialized: columns.next() as [UInt8]), author: columns.next(), reason: columns.next(),
                    endedAtMilliseconds: UInt64(clamping: columns.next() as Int64))
            })
    }

    private func rules(_ condition: String, _ arguments: Arguments) throws -> [ActiveDegradation] {
        try database.all("SELECT rule, author, reason FROM degradation_rule \(condition)", arguments) { columns in
            ActiveDegradation(rule: try DegradationRule(serialized: columns.next() as [UInt8]), author: columns.next(), reason: columns.next())
        }
    }

    /// Removes the rules whose time is over, and records their ends.
    func endOverdueRules() throws {
        let overdue = try rules("WHERE ends_at_ms <= ? ORDER BY ends_at_ms, number", [now])
        guard !overdue.isEmpty else { return }
        let document = try newestDocument()
        for active in overdue {
            try end(active)
            try record(.degradationEnded, of: active, by: AuditAuthor.time, "ended by its time", in: document)
        }
    }

    func record(
        _ action: AuditAction, of active: ActiveDegradation, by author: String, _ what: String, in document: CatalogueDocument
    ) throws {
        guard let rule = active.rule else { return }
        let programmer = document[EntityKey(.requestors, rule.requestorID)]?["programmer"]?.text
        let reason = active.reason.isEmpty || action != .degradationStarted ? "" : ": \(active.reason)"
        try record(
            action, by: author, "Degradation rule \(rule.kind.name) on \(rule.requestorID) for \(rule.mvpdID) \(what)\(reason)",
            programmers: programmer.map { [$0] } ?? [])
    }
}

extension [LivingKey: EntryLife] {
    /// Whether a rule began while its requestor and its MVPD had the owners that they have now.
    fileprivate func cover(_ rule: DegradationRule) -> Bool {
        let start = Timestamp(milliseconds: Int64(clamping: rule.startsAtMilliseconds))
        return [LivingKey(.requestor, rule.requestorID), LivingKey(.mvpd, rule.mvpdID)].allSatisfy { key in
            self[key].map { $0.since <= start } ?? true
        }
    }
}
