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
        let known: Statement = """
            SELECT team, transfer_subject, programmer, account_id, accepted_at_ms FROM apple_transfer WHERE team = ? AND transfer_subject = ?
            """
        return try first(known, [team, transferSubject]) { columns in
            AppleTransferRecord(
                team: columns.next(), transferSubject: columns.next(), programmer: columns.next(), account: columns.next(),
                acceptedAt: columns.next())
        }
    }

    func put(_ transfer: AppleTransferRecord) throws {
        try run(
            """
            INSERT INTO apple_transfer (team, transfer_subject, programmer, account_id, accepted_at_ms) VALUES (?, ?, ?, ?, ?)
            ON CONFLICT (team, transfer_subject) DO UPDATE SET programmer = excluded.programmer, account_id = excluded.account_id,
                accepted_at_ms = excluded.accepted_at_ms
            """, [transfer.team, transfer.transferSubject, transfer.programmer, transfer.account, transfer.acceptedAt])
    }

    func removeTransfers(of account: AccountID) throws {
        try run("DELETE FROM apple_transfer WHERE account_id = ?", [account])
    }
}
