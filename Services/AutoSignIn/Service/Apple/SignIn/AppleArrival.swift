internal import Clocks
internal import Faults
internal import Storage

/// What a proven person finds here (apple §2.8).
enum AppleArrival: Hashable, Sendable {
    /// Rule 2.
    case known(AppleLinkRecord)
    /// The account that another team's user brought along (apple §2.10).
    case moved(AccountID)
    /// Rule 4: an account with the same e-mail of their own.
    case accountExists
    /// Rule 5.
    case newcomer

    /// The account, if it is clear which.
    var account: AccountID? {
        switch self {
        case .known(let link): link.account
        case .moved(let account): account
        case .accountExists, .newcomer: nil
        }
    }

    /// What the person has to decide; `nil`: nothing.
    func question(createsAccount: Bool) -> AppleQuestion? {
        switch self {
        case .known, .moved: nil
        case .accountExists: .accountExists
        case .newcomer: createsAccount ? nil : .confirmationRequired
        }
    }
}

extension Database {
    /// - Throws: `link_conflict` when the person is another programmer's; `transfer_window_closed`.
    func arrival(of person: AppleAuthorization, programmer: ProgrammerID, now: Timestamp) throws -> AppleArrival {
        if let link = try appleLink(team: person.team, subject: person.subject) {
            guard link.programmer == programmer else { throw AppleLinking.conflict }
            return .known(link)
        }
        if let moved = try movedAccount(of: person, programmer: programmer, now: now) { return .moved(moved) }
        return try hasAccount(of: person.email, programmer: programmer) ? .accountExists : .newcomer
    }

    private func movedAccount(of person: AppleAuthorization, programmer: ProgrammerID, now: Timestamp) throws -> AccountID? {
        guard let name = person.transferSubject, let transfer = try appleTransfer(name, team: person.team),
            transfer.programmer == programmer, try isFree(transfer.account, team: person.team)
        else { return nil }
        try transfer.requireOpen(now)
        return transfer.account
    }

    /// Open, and without a link to the team.
    func isFree(_ account: AccountID, team: AppleTeamID) throws -> Bool {
        guard let account = try self.account(account), account.closedAt == nil else { return false }
        return try !appleLinks(of: account.id).contains { $0.team == team }
    }

    /// An address counts only if it is verified and the person's own, on both sides.
    private func hasAccount(of email: AppleEmail?, programmer: ProgrammerID) throws -> Bool {
        guard let address = email?.comparable else { return false }
        return try accountIDs(email: address, programmer: programmer).contains { id in
            guard let account = try account(id), account.closedAt == nil else { return false }
            return account.profile.isEmailVerified && !account.profile.isEmailPrivate
        }
    }
}
