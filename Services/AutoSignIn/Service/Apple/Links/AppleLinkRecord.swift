internal import Clocks
internal import Contracts

/// A person of one developer team, and the account that they open (apple §2.8). The pair (team, subject) is unique, and so is (account, team).
struct AppleLinkRecord: Hashable, Sendable {
    let id: AppleLinkID
    let programmer: ProgrammerID
    let team: AppleTeamID
    /// `sub`: stable for the team.
    let subject: String
    let account: AccountID
    /// The first that Apple told; later sign-ins have none (apple §2.6).
    var realUserStatus: RealUserStatus?
    /// Of Apple's relay (apple §2.9).
    var mail = MailForwarding()
    let createdAt: Timestamp
    /// The latest authorization, whatever the group.
    var authorizedAt: Timestamp
    /// By group of apps.
    var consents: [String: AppleConsent] = [:]

    /// Revoked once no group of apps has a consent any more. A link that was made for a moved user has none yet.
    var isRevoked: Bool { !consents.isEmpty && consents.values.allSatisfy { $0.revokedAt != nil } }
}

/// What a person allowed a group of apps that share one consent.
struct AppleConsent: Hashable, Sendable {
    var authorizedAt: Timestamp
    var revokedAt: Timestamp?

    /// An event from before the latest authorization says nothing of it (apple §2.9); whole seconds, as Apple's times may have no more.
    func isAffected(byEventAt moment: Timestamp) -> Bool { moment.seconds >= authorizedAt.seconds }
}

/// Whether Apple forwards mail to the person.
struct MailForwarding: Hashable, Sendable {
    var isAllowed = true
    var changedAt: Timestamp?

    /// Events may arrive in another order than they happened.
    func after(_ isAllowed: Bool, at moment: Timestamp) -> MailForwarding {
        if let changedAt, moment < changedAt { return self }
        return MailForwarding(isAllowed: isAllowed, changedAt: moment)
    }
}

extension AppleLink {
    init(_ record: AppleLinkRecord) {
        self.init(
            id: record.id.text, teamID: record.team.text, accountID: record.account.text, state: record.isRevoked ? .revoked : .active,
            authorizedAtMilliseconds: UInt64(clamping: record.authorizedAt.milliseconds), isMailAllowed: record.mail.isAllowed)
    }
}
