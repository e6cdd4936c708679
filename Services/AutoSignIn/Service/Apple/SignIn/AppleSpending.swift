internal import Clocks
internal import Cryptography
internal import Faults
internal import Identifiers
internal import Storage

/// A string of ours that Apple echoes in the identity token (apple §2.2): for one use, by one client on one device, with one app.
struct AppleNonceRecord: Hashable, Sendable {
    static let lifetime: Duration = .seconds(600)
    /// Of one that is given back.
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

/// What a sign-in uses up (apple §4, I7; §2.2, V10).
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

/// What is known whole, in one round trip.
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
