internal import Clocks
internal import Faults
internal import Storage

/// A user whom another team handed over (apple §2.10): known by the transfer identifier until Apple names the new one.
struct AppleTransferRecord: Hashable, Sendable {
    /// How long Apple translates after the transfer was accepted.
    static let window: Duration = .seconds(60 * 86_400)

    /// The team that receives the app.
    let team: AppleTeamID
    let transferSubject: String
    let programmer: ProgrammerID
    let account: AccountID
    let acceptedAt: Timestamp

    /// - Throws: `transfer_window_closed`.
    func requireOpen(_ now: Timestamp) throws(Fault) {
        guard now < acceptedAt + Self.window else {
            throw Fault(.transferWindowClosed, "The transfer was accepted more than 60 days ago.")
        }
    }
}

extension Database {
    func appleTransfer(_ transferSubject: String, team: AppleTeamID) throws -> AppleTransferRecord? {
        let statement = try cachedStatement(sql: "SELECT * FROM apple_transfer WHERE team = ? AND transfer_subject = ?")
        return try Row.fetchOne(statement, arguments: [team, transferSubject]).map { row in
            AppleTransferRecord(
                team: row["team"], transferSubject: row["transfer_subject"], programmer: row["programmer"], account: row["account_id"],
                acceptedAt: row["accepted_at_ms"])
        }
    }

    func put(_ transfer: AppleTransferRecord) throws {
        let sql = """
            INSERT OR REPLACE INTO apple_transfer (team, transfer_subject, programmer, account_id, accepted_at_ms) VALUES (?, ?, ?, ?, ?)
            """
        try cachedStatement(sql: sql).execute(arguments: [
            transfer.team, transfer.transferSubject, transfer.programmer, transfer.account, transfer.acceptedAt,
        ])
    }

    func removeTransfers(of account: AccountID) throws {
        try cachedStatement(sql: "DELETE FROM apple_transfer WHERE account_id = ?").execute(arguments: [account])
    }
}
