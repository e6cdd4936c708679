internal import CatalogueFiles
internal import Clocks
internal import ContractRuntime
internal import Contracts
internal import Foundation
internal import Storage

extension CatalogueLedger {
    /// Rules that have not ended, in the order of their start.
    func activeRules() throws -> [ActiveDegradation] {
        try rules("WHERE ends_at_ms > ? ORDER BY rowid", [now])
    }

    /// The same as they are stored, encoded by whichever release made them.
    func activeRuleContents() throws -> [[UInt8]] {
        try Data.fetchAll(database, sql: "SELECT rule FROM degradation_rule WHERE ends_at_ms > ? ORDER BY rowid", arguments: [now]).map {
            [UInt8]($0)
        }
    }

    func rule(_ id: String) throws -> ActiveDegradation? { try rules("WHERE id = ? AND ends_at_ms > ?", [id, now]).first }

    func keep(_ active: ActiveDegradation) throws {
        guard let rule = active.rule else { return }
        try database.execute(
            sql: """
                INSERT INTO degradation_rule (id, rule, author, reason, ends_at_ms) VALUES (?, ?, ?, ?, ?)
                ON CONFLICT DO UPDATE SET rule = excluded.rule, ends_at_ms = excluded.ends_at_ms
                """,
            arguments: [rule.id, Data(try rule.serialized()), active.author, active.reason, Int64(rule.endsAtMilliseconds)])
    }

    func removeRule(_ id: String) throws { try database.execute(sql: "DELETE FROM degradation_rule WHERE id = ?", arguments: [id]) }

    private func rules(_ condition: String, _ arguments: StatementArguments) throws -> [ActiveDegradation] {
        try Row.fetchAll(database, sql: "SELECT rule, author, reason FROM degradation_rule " + condition, arguments: arguments).map { row in
            let encoded: Data = row["rule"]
            return ActiveDegradation(rule: try DegradationRule(serialized: [UInt8](encoded)), author: row["author"], reason: row["reason"])
        }
    }

    /// Removes the rules whose time is over, and records their ends.
    func endOverdueRules() throws {
        let overdue = try rules("WHERE ends_at_ms <= ? ORDER BY ends_at_ms, rowid", [now])
        guard !overdue.isEmpty else { return }
        let document = try newestDocument()
        for active in overdue {
            try removeRule(active.rule?.id ?? "")
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
