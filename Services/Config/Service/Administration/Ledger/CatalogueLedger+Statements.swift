internal import CatalogueFiles
internal import Clocks
internal import Foundation
internal import Storage

/// A software statement that ended because another programmer has its application's id.
struct EndedStatement: Hashable, Sendable {
    let softwareID: String
    let application: String
    /// Who has the id now.
    let programmer: String
}

extension CatalogueLedger {
    /// The ids of an application's statements that are not revoked. An application that never had one gets one; it keeps it when it leaves the catalogue and comes back
    /// with its programmer. Those of another programmer's application of the same id have ended.
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
