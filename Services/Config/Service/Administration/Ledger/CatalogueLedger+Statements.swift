internal import Foundation
internal import Storage

extension CatalogueLedger {
    /// The ids of an application's statements that are not revoked. An application that never had one gets one; it keeps it for ever, also when
    /// it leaves the catalogue and comes back.
    func softwareIDs(of application: String) throws -> [String] {
        let rows = try Row.fetchAll(
            database, sql: "SELECT software_id, revoked_at_ms FROM statement WHERE application_id = ? ORDER BY created_at_ms, software_id",
            arguments: [application])
        if rows.isEmpty { return [try newSoftwareID(of: application)] }
        return rows.compactMap { row -> String? in (row["revoked_at_ms"] as Int64?) == nil ? row["software_id"] : nil }
    }

    func newSoftwareID(of application: String) throws -> String {
        let made = UUID().uuidString.lowercased()
        try database.execute(
            sql: "INSERT INTO statement (software_id, application_id, created_at_ms) VALUES (?, ?, ?)", arguments: [made, application, now])
        return made
    }

    /// - Returns: The ids that were in force until now.
    func revokeSoftwareIDs(of application: String) throws -> [String] {
        let revoked = try softwareIDs(of: application)
        try database.execute(
            sql: "UPDATE statement SET revoked_at_ms = ? WHERE application_id = ? AND revoked_at_ms IS NULL", arguments: [now, application])
        return revoked
    }
}
