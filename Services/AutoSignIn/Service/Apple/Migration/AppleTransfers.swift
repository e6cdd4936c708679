internal import Catalogue
internal import Clocks
internal import Contracts
internal import Faults
internal import Storage

/// Users who move from one developer team to another (apple §2.10).
struct AppleTransfers: Sendable {
    let parts: AppleParts

    /// - Throws: `client_unknown`, `invalid_request`, `transfer_window_closed`; the faults of the calls to Apple.
    func exchange(_ request: ExchangeTransferRequest) async throws(Fault) -> ExchangedTransfer {
        let team = AppleTeamID(request.teamID)
        guard let app = try parts.base.parts.catalogue.current().app(AppleClientID(request.clientID), ofTeam: team)?.app else {
            throw Fault(.clientUnknown, "The team has no such app.")
        }
        if let sent = request.sent, request.transferSub.isEmpty, !sent.sub.isEmpty, !sent.targetTeamID.isEmpty {
            let token = try await parts.apple.migrationToken(app: app)
            let name = try await parts.apple.transferSubject(of: sent.sub, target: sent.targetTeamID, app: app, token: token)
            return ExchangedTransfer(transferSub: name)
        }
        guard request.sent == nil, VerifiedIdentityToken.isSubject(request.transferSub) else {
            throw Fault(.invalidRequest, "Either 'transfer_sub' or 'sub' and 'target' is needed.")
        }
        return try await receive(request.transferSub, team, app)
    }

    private func receive(_ name: String, _ team: AppleTeamID, _ app: AppleApp) async throws(Fault) -> ExchangedTransfer {
        let now = parts.now()
        let transfer = try await parts.store.store.read { try $0.appleTransfer(name, team: team) }
        try transfer?.requireOpen(now)
        let token = try await parts.apple.migrationToken(app: app)
        let subject = try await parts.apple.subject(ofTransfer: name, app: app, token: token)
        if let transfer { try await link(subject, transfer, now) }
        return ExchangedTransfer(sub: subject)
    }

    /// From now on the person is known without the transfer identifier.
    private func link(_ subject: String, _ transfer: AppleTransferRecord, _ now: Timestamp) async throws(Fault) {
        let id = AppleLinkID(parts.newID())
        try await parts.store.store.write { database in
            guard try database.appleLink(team: transfer.team, subject: subject) == nil, try database.isFree(transfer.account, team: transfer.team)
            else { return }
            try database.put(
                AppleLinkRecord(
                    id: id, programmer: transfer.programmer, team: transfer.team, subject: subject, account: transfer.account, createdAt: now,
                    authorizedAt: transfer.acceptedAt))
        }
    }

    /// Users of accounts that are not the programmer's, or closed, are passed over.
    /// - Returns: The number that were taken in.
    func take(_ request: ImportTransfersRequest) async throws(Fault) -> Int {
        let programmer = ProgrammerID(request.programmerID)
        let team = AppleTeamID(request.teamID)
        guard let record = try parts.base.parts.catalogue.current().programmer(programmer),
            record.appleTeams.contains(where: { $0.teamID == request.teamID })
        else { throw Fault(.clientUnknown, "The programmer has no such team.") }
        let acceptedAt = Timestamp(milliseconds: Int64(clamping: request.acceptedAtMilliseconds))
        return try await parts.store.store.write { database in
            var taken = 0
            for user in request.users where VerifiedIdentityToken.isSubject(user.transferSub) {
                guard let account = try database.account(AccountID(user.accountID)), account.programmer == programmer, account.closedAt == nil
                else { continue }
                try database.put(
                    AppleTransferRecord(
                        team: team, transferSubject: user.transferSub, programmer: programmer, account: account.id, acceptedAt: acceptedAt))
                taken += 1
            }
            return taken
        }
    }
}

/// A user whom another team handed over (apple §2.10): known by the transfer identifier until Apple names the new one.
struct AppleTransferRecord: Hashable, Sendable {
    /// Apple translates for this long after the transfer was accepted.
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
