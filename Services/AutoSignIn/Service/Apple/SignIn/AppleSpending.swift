internal import Clocks
internal import Cryptography
internal import Faults
internal import Identifiers
internal import Storage

/// A string of ours that Apple echoes in the identity token (apple §2.2): for one use, by one client on one device, with one app.
struct AppleNonceRecord: Hashable, Sendable {
    static let lifetime: Duration = .seconds(600)
    /// The lifetime of a nonce that is given back.
    static let shortLifetime: Duration = .seconds(60)

    let digest: Digest
    let holder: String
    let client: AppleClientID

    init(_ nonce: String, holder: String, client: AppleClientID) {
        digest = Digest(bytes: SHA256.hash(nonce))
        self.holder = holder
        self.client = client
    }
}

/// The values that a sign-in uses up (apple §4, I7; §2.2, V10).
struct AppleSpending: Hashable, Sendable {
    /// `nil`: a web sign-in, whose state is spent already.
    let nonce: AppleNonceRecord?
    let token: Digest
    let tokenExpiresAt: Timestamp
    /// `nil`: there is none.
    let code: Digest?

    /// A code lives five minutes at Apple (apple §2.4).
    static let codeMemory: Duration = .seconds(24 * 3600)

    init(_ claim: AppleClaim, _ tie: AppleProofs.Tie, _ app: AppleApp, _ verified: VerifiedIdentityToken) {
        if case .nonce(let holder) = tie {
            nonce = AppleNonceRecord(claim.nonce, holder: holder, client: app.client)
        } else {
            nonce = nil
        }
        token = Digest(bytes: SHA256.hash(claim.identityToken))
        tokenExpiresAt = verified.expiresAt
        code = claim.code.isEmpty ? nil : Digest(bytes: SHA256.hash(claim.code))
    }
}

extension Database {
    /// Uses everything up, or nothing: whoever comes second, by this copy or another one, finds it used.
    /// - Throws: Why not.
    func spend(_ spending: AppleSpending, now: Timestamp) throws {
        for (step, rejection) in spending.steps(now) {
            guard try run(step) == 1 else { throw rejection.fault }
        }
    }

    /// After Apple did not answer.
    func giveBack(_ spending: AppleSpending, now: Timestamp) throws {
        let back: Statement = "DELETE FROM apple_spent WHERE kind = ? AND digest = ?"
        try run(back, ["token", spending.token])
        if let code = spending.code { try run(back, ["code", code]) }
        if let nonce = spending.nonce { try run(nonce.insert(until: now + AppleNonceRecord.shortLifetime)) }
    }
}

extension AppleNonceRecord {
    func insert(until: Timestamp) -> BoundStatement {
        BoundStatement("INSERT INTO apple_nonce (digest, holder, client_id, expires_at_ms) VALUES (?, ?, ?, ?)", [digest, holder, client, until])
    }

    fileprivate func take(_ now: Timestamp) -> BoundStatement {
        BoundStatement(
            "DELETE FROM apple_nonce WHERE digest = ? AND holder = ? AND client_id = ? AND expires_at_ms > ?", [digest, holder, client, now])
    }
}

extension AppleSpending {
    /// Each changes one row, unless it is used up already.
    fileprivate func steps(_ now: Timestamp) -> [(BoundStatement, IdentityTokenRejection)] {
        var steps: [(BoundStatement, IdentityTokenRejection)] = []
        if let nonce { steps.append((nonce.take(now), .nonce)) }
        steps.append((Self.note("token", token, until: tokenExpiresAt), .replayed))
        if let code { steps.append((Self.note("code", code, until: now + Self.codeMemory), .foreignGrant)) }
        return steps
    }

    private static func note(_ kind: String, _ digest: Digest, until: Timestamp) -> BoundStatement {
        BoundStatement(
            "INSERT INTO apple_spent (kind, digest, expires_at_ms) VALUES (?, ?, ?) ON CONFLICT (kind, digest) DO NOTHING",
            [kind, digest, until])
    }
}

/// The spending of values that are known whole, in one round trip.
extension AutoSignInStore {
    /// - Throws: Faults of the storage, here and below.
    func isLive(_ nonce: AppleNonceRecord, now: Timestamp) async throws(Fault) -> Bool {
        let live: Statement = "SELECT 1 FROM apple_nonce WHERE digest = ? AND holder = ? AND client_id = ? AND expires_at_ms > ?"
        return try await store.first(live, [nonce.digest, nonce.holder, nonce.client, now]) { _ in true } ?? false
    }

    /// As `Database.spend`.
    func spend(_ spending: AppleSpending, now: Timestamp) async throws(Fault) {
        let stored = try await store.commit {
            var plan = Plan(for: "apple")
            for (step, _) in spending.steps(now) { plan.add(step, rows: 1) }
            return plan
        }
        if stored == nil { try await store.write { try $0.spend(spending, now: now) } }
    }
}

/// Ties a proven person to an account, in the commit that needs it.
struct AppleLinking: Sendable {
    /// The seal of Apple's refresh tokens.
    let seal: TokenSeal
    let random: any RandomSource

    static var conflict: Fault { Fault(.linkConflict, "The Apple Account and this account are linked to others already.") }

    /// A new link, or a new authorization of one; notes what Apple told of the person.
    /// - Parameters:
    ///   - link: The person's, where there is one.
    ///   - id: The id of a new link.
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
