internal import Foundation
internal import Storage

extension CatalogueLedger {
    /// The ids of an application's statements that are not revoked. An application that never had one gets one; it keeps it for ever, also when
    /// it leaves the catalogue and comes back.
    func softwareIDs(of application: String) throws -> [String] {
        let known = try database.all(
            "SELECT software_id, revoked_at_ms FROM statement WHERE application_id = ? ORDER BY created_at_ms, software_id", [application]
        ) { (id: $0.next() as String, revokedAt: $0.next() as Int64?) }
        if known.isEmpty { return [try newSoftwareID(of: application)] }
        return known.filter { $0.revokedAt == nil }.map(\.id)
    }

    func newSoftwareID(of application: String) throws -> String {
        let made = UUID().uuidString.lowercased()
        try run("INSERT INTO statement (software_id, application_id, created_at_ms) VALUES (?, ?, ?)", [made, application, now])
        return made
    }

    /// - Returns: The ids that were in force until now.
    func revokeSoftwareIDs(of application: String) throws -> [String] {
        let revoked = try softwareIDs(of: application)
        try run("UPDATE statement SET revoked_at_ms = ? WHERE application_id = ? AND revoked_at_ms IS NULL", [now, application])
        return revoked
    }
}
