internal import Clocks
internal import Contracts
internal import Storage

/// The ends of what a person allowed, each in the commit that needs it.
extension Database {
    /// The person, or an operator, takes a link away: Apple hears of it through the outbox (apple §2.5).
    func withdraw(_ link: AppleLinkRecord, _ touched: inout Touched, now: Timestamp) throws {
        try revokeGrants(of: link, now: now)
        try endWhatCame(from: link, through: nil, &touched, now: now)
    }

    /// Apple says that a consent is over: of one group of apps, or of all (apple §2.9). Its tokens are void already.
    /// - Parameter group: `nil`: every one.
    func consentEnded(_ link: AppleLinkRecord, group: AppleAppGroup?, _ touched: inout Touched, now: Timestamp) throws {
        var link = link
        for (name, consent) in link.consents where (group == nil || group?.id == name) && consent.revokedAt == nil {
            link.consents[name] = AppleConsent(authorizedAt: consent.authorizedAt, revokedAt: now)
        }
        try put(link)
        try eraseGrants(of: link.id, group: group?.id)
        try endWhatCame(from: link, through: group?.clients, &touched, now: now)
    }

    /// Ends the sessions that were made from the link, and the families of the devices that came in by them.
    /// - Parameter clients: `nil`: whichever client ids they came through.
    func endWhatCame(from link: AppleLinkRecord, through clients: [AppleClientID]?, _ touched: inout Touched, now: Timestamp) throws {
        let ended = try sessions(of: link.account).filter { session in
            guard case .apple(link.id, let client) = session.origin else { return false }
            return clients?.contains(client) ?? true
        }
        let devices = Set(ended.map(\.device))
        for family in try families(of: link.account) where clients?.contains(family.bundleID) ?? true {
            guard family.link == link.id || devices.contains(family.device) else { continue }
            try revoke(family.id, .appleLink, &touched, now: now)
        }
        try end(ended, now: now)
        touched.sessions.formUnion(ended.map(\.id))
    }
}
