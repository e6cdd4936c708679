internal import CatalogueFiles
internal import Clocks
internal import ContractRuntime
internal import Contracts
internal import Foundation
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
    /// True when a rule began while its requestor and its MVPD had the owners that they have now.
    fileprivate func cover(_ rule: DegradationRule) -> Bool {
        let start = Timestamp(milliseconds: Int64(clamping: rule.startsAtMilliseconds))
        return [LivingKey(.requestor, rule.requestorID), LivingKey(.mvpd, rule.mvpdID)].allSatisfy { key in
            self[key].map { $0.since <= start } ?? true
        }
    }
}

/// The owner of a secret's file. One that is not kept is operators'.
struct FileOwner: Hashable, Sendable {
    let reference: String
    /// Empty: operators'.
    let programmer: String
    /// Nobody has decided: entries of several named it.
    let isOpen: Bool
}

extension CatalogueLedger {
    private static let settled = "secret owners"
    private static let told = "secret owners told"

    /// By reference.
    func fileOwners() throws -> [FileOwner] {
        try database.all("SELECT reference, programmer, is_open FROM secret_owner ORDER BY reference") {
            FileOwner(reference: $0.next(), programmer: $0.next(), isOpen: $0.next())
        }
    }

    /// Those that are a programmer's.
    func programmersOfFiles() throws -> [OctetText: String] {
        Dictionary(texts: try fileOwners().filter { !$0.programmer.isEmpty }.map { ($0.reference, $0.programmer) }) { first, _ in first }
    }

    /// Once for each store: whose the files are that the newest version names.
    func settleFileOwners() throws {
        guard try !database.hasRow("SELECT 1 FROM progress WHERE name = ?", [Self.settled]) else { return }
        try settleFileOwners(in: try newestDocument())
        try run("INSERT INTO progress (name, value) VALUES (?, ?) ON CONFLICT (name) DO NOTHING", [Self.settled, now])
    }

    /// Gives the files about which nothing was said to those whose entries name them: to the one programmer, or to operators. Only for what operators
    /// wrote: a whole catalogue, or the one that there was before owners were kept.
    func settleFileOwners(in document: CatalogueDocument) throws {
        let known = Set(texts: try fileOwners().map(\.reference))
        for (reference, holders) in document.secretHolders() where !known.contains(reference) {
            let programmers = holders.compactMap { if case .programmer(let id) = $0 { id } else { nil } }
            guard !programmers.isEmpty else { continue }
            let isOpen = holders.count > 1
            try keep(FileOwner(reference: reference.text, programmer: isOpen ? "" : programmers[0], isOpen: isOpen))
        }
    }

    /// The files that an upgrade gave to programmers, because their entries alone named them. Empty when that was told before, and in a store that
    /// has had owners since it began.
    func takeDerivedOwners() throws -> [FileOwner] {
        let settledAt: Int64? = try database.value("SELECT value FROM progress WHERE name = ?", [Self.settled])
        guard let settledAt, try !database.hasRow("SELECT 1 FROM progress WHERE name = ?", [Self.told]) else { return [] }
        try run("INSERT INTO progress (name, value) VALUES (?, ?) ON CONFLICT (name) DO NOTHING", [Self.told, now])
        guard try database.hasRow("SELECT 1 FROM version WHERE created_at_ms < ?", [settledAt]) else { return [] }
        return try database.all(
            "SELECT reference, programmer, is_open FROM secret_owner WHERE changed_at_ms = ? AND programmer <> '' ORDER BY reference", [settledAt]
        ) { FileOwner(reference: $0.next(), programmer: $0.next(), isOpen: $0.next()) }
    }

    func keep(_ owner: FileOwner) throws {
        try run(
            """
            INSERT INTO secret_owner (reference, programmer, is_open, changed_at_ms) VALUES (?, ?, ?, ?)
            ON CONFLICT (reference) DO UPDATE SET programmer = excluded.programmer, is_open = excluded.is_open, changed_at_ms = excluded.changed_at_ms
            """, [owner.reference, owner.programmer, owner.isOpen, now])
    }
}

/// A software statement that ended because another programmer has its application's id.
struct EndedStatement: Hashable, Sendable {
    let softwareID: String
    let application: String
    /// The programmer that has the id now.
    let programmer: String
}

extension CatalogueLedger {
    /// The ids of an application's statements that are not revoked. An application that never had one gets one; it keeps it when it leaves the
    /// catalogue and comes back with its programmer. Those of another programmer's application of the same id have ended.
    func softwareIDs(of application: String) throws -> [String] {
        try softwareIDs(of: application, since: try since(application))
    }

    /// The same for one whose life is known.
    func softwareIDs(of application: String, since: Timestamp) throws -> [String] {
        let known = try database.all(
            """
            SELECT software_id, revoked_at_ms FROM statement WHERE application_id = ? AND created_at_ms >= ? ORDER BY created_at_ms, software_id
            """, [application, since]
        ) { (id: $0.next() as String, revokedAt: $0.next() as Int64?) }
        if known.isEmpty { return [try newSoftwareID(of: application, since: since)] }
        return known.filter { $0.revokedAt == nil }.map(\.id)
    }

    func newSoftwareID(of application: String) throws -> String { try newSoftwareID(of: application, since: try since(application)) }

    private func newSoftwareID(of application: String, since: Timestamp) throws -> String {
        let made = UUID().uuidString.lowercased()
        try run("INSERT INTO statement (software_id, application_id, created_at_ms) VALUES (?, ?, ?)", [made, application, max(now, since)])
        return made
    }

    private func since(_ application: String) throws -> Timestamp {
        try updatedLives()[LivingKey(.application, application)]?.since ?? Timestamp(milliseconds: 0)
    }

    /// - Returns: The ids that were in force until now.
    func revokeSoftwareIDs(of application: String) throws -> [String] {
        let revoked = try softwareIDs(of: application)
        try run("UPDATE statement SET revoked_at_ms = ? WHERE application_id = ? AND revoked_at_ms IS NULL", [now, application])
        return revoked
    }

    /// Ends the statements of applications that had the ids of these before, as another programmer's, and records each once.
    /// - Returns: Those that end now.
    func endFormerSoftwareIDs(_ lives: [LivingKey: EntryLife]) throws -> [EndedStatement] {
        var ended: [EndedStatement] = []
        for (key, life) in lives where key.kind == .application && life.since > Timestamp(milliseconds: 0) {
            let former: [String] = try database.values(
                "SELECT software_id FROM statement WHERE application_id = ? AND created_at_ms < ? AND revoked_at_ms IS NULL ORDER BY software_id",
                [key.id.text, life.since])
            guard !former.isEmpty else { continue }
            try run(
                "UPDATE statement SET revoked_at_ms = ? WHERE application_id = ? AND created_at_ms < ? AND revoked_at_ms IS NULL",
                [now, key.id.text, life.since])
            try record(
                .statementsRevoked, by: AuditAuthor.time,
                "Software statements of a former application \(key.id.text) ended, as \(life.owner) has its id now: \(former.joined(separator: ", "))",
                programmers: [])
            ended += former.map { EndedStatement(softwareID: $0, application: key.id.text, programmer: life.owner) }
        }
        return ended
    }
}
