internal import Clocks
internal import Faults
internal import Identifiers
internal import Storage

/// Ties a proven person to an account, in the commit that needs it.
struct AppleLinking: Sendable {
    /// Of Apple's refresh tokens.
    let seal: TokenSeal
    let random: any RandomSource

    static var conflict: Fault { Fault(.linkConflict, "The Apple Account and this account are linked to others already.") }

    /// A new link, or a new authorization of one; notes what Apple told of the person.
    /// - Parameters:
    ///   - link: The person's, where there is one.
    ///   - id: Of a new one.
    func authorize(
        _ person: AppleAuthorization, _ link: AppleLinkRecord?, id: AppleLinkID, account: AccountRecord, in database: Database,
        _ touched: inout Touched, now: Timestamp
    ) throws -> AppleLinkRecord {
        var link =
            link
            ?? AppleLinkRecord(
                id: id, programmer: account.programmer, team: person.team, subject: person.subject, account: account.id, createdAt: now,
                authorizedAt: now)
        // The first status counts; later sign-ins have none (apple §2.6).
        link.realUserStatus = link.realUserStatus ?? person.realUserStatus
        link.authorizedAt = now
        link.consents[person.group] = AppleConsent(authorizedAt: now)
        try database.put(link)
        if let token = person.refreshToken {
            let owner = AppleGrantRecord.owner(link.id, person.client)
            try database.put(
                AppleGrantRecord(
                    link: link.id, client: person.client, group: person.group, sealed: try seal.close(token, AppleGrantRecord.sealedAs, of: owner),
                    validatedAt: now, nextCheckAt: AppleSessionCheck.next(after: now, fraction: random.fraction())))
        }
        let profile = account.profile.told(by: person)
        if profile != account.profile {
            try database.setProfile(profile, of: account.id)
            touched.accounts.insert(account.id)
        }
        return link
    }
}

extension AccountProfile {
    /// A name comes once: it is taken while there is none, and never replaced (apple §2.7). The address may change at Apple.
    func told(by person: AppleAuthorization) -> AccountProfile {
        var profile = self
        if !hasName, let name = person.name { (profile.givenName, profile.familyName) = (name.given, name.family) }
        if let email = person.email, email.comparable != nil || profile.email == nil || profile.isEmailPrivate {
            profile.email = email.address
            profile.isEmailVerified = email.isVerified
            profile.isEmailPrivate = email.isPrivate
        }
        return profile
    }
}
