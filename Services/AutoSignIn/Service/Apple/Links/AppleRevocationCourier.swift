internal import Catalogue
internal import Clocks
internal import Contracts
internal import Faults

/// Ends authorizations at Apple (apple §2.5), each refresh token by its own client id.
struct AppleRevocationCourier: OutboxCourier {
    let apple: AppleIDClient
    let seal: TokenSeal
    let catalogue: any CatalogueSource

    func deliver(_ item: OutboxItem) async -> DeliveryOutcome {
        guard let revocation = AppleRevocation(item.letter), let sealed = revocation.sealed,
            let token = seal.open(
                sealed, AppleGrantRecord.sealedAs,
                of: AppleGrantRecord.owner(AppleLinkID(item.letter.subject), AppleClientID(revocation.client)), as: AppleRefreshToken.self)
        else { return .refused(status: 0) }
        do throws(Fault) {
            let catalogue = try catalogue.current()
            guard let app = catalogue.app(AppleClientID(revocation.client), ofTeam: AppleTeamID(revocation.team))?.app else {
                return .refused(status: 0)
            }
            try await apple.revoke(token, app: app)
            return .accepted
        } catch {
            return Self.outcome(error)
        }
    }

    private static func outcome(_ fault: Fault) -> DeliveryOutcome {
        switch fault.code {
        // There is nothing left to end.
        case .appleGrantInvalid: .accepted
        case .appleRequestInvalid: .refused(status: 400)
        default: .unclear(status: 0, retryAfter: fault.retryAfter)
        }
    }
}

/// A refresh token that Apple gave for one client id; validating and revoking it need that id (apple §2.5).
struct AppleGrantRecord: Hashable, Sendable {
    let link: AppleLinkID
    let client: AppleClientID
    /// The id of the group of apps.
    let group: String
    let sealed: SealedBytes
    var validatedAt: Timestamp
    var nextCheckAt: Timestamp
    /// Since when Apple does not say whether it stands.
    var unclearSince: Timestamp?

    /// For whom it is sealed.
    static func owner(_ link: AppleLinkID, _ client: AppleClientID) -> String { "\(link) \(client)" }

    static let sealedAs: StaticString = "refresh token"
}

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
    /// The mail forwarding of Apple's relay (apple §2.9).
    var mail = MailForwarding()
    let createdAt: Timestamp
    /// The latest authorization, whatever the group.
    var authorizedAt: Timestamp
    /// By group of apps.
    var consents: [String: AppleConsent] = [:]

    /// Revoked once no group of apps has a consent any more. A link that was made for a moved user has none yet.
    var isRevoked: Bool { !consents.isEmpty && consents.values.allSatisfy { $0.revokedAt != nil } }
}

/// A person's consent for a group of apps that share it.
struct AppleConsent: Hashable, Sendable {
    var authorizedAt: Timestamp
    var revokedAt: Timestamp?

    /// An event from before the latest authorization says nothing of it (apple §2.9); whole seconds, as Apple's times may have no more.
    func isAffected(byEventAt moment: Timestamp) -> Bool { moment.seconds >= authorizedAt.seconds }
}

/// Apple's forwarding of mail to the person.
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
