internal import Clocks
internal import Cryptography
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
    func insert(_ nonce: AppleNonceRecord, until: Timestamp) throws {
        try run(
            "INSERT INTO apple_nonce (digest, holder, client_id, expires_at_ms) VALUES (?, ?, ?, ?)",
            [nonce.digest, nonce.holder, nonce.client, until])
    }

    func isLive(_ nonce: AppleNonceRecord, now: Timestamp) throws -> Bool {
        try hasRow(
            "SELECT 1 FROM apple_nonce WHERE digest = ? AND holder = ? AND client_id = ? AND expires_at_ms > ?",
            [nonce.digest, nonce.holder, nonce.client, now])
    }

    /// Uses everything up, or nothing.
    /// - Returns: Why not.
    func spend(_ spending: AppleSpending, now: Timestamp) throws -> IdentityTokenRejection? {
        if let nonce = spending.nonce, !(try isLive(nonce, now: now)) { return .nonce }
        if try isSpent("token", spending.token) { return .replayed }
        if let code = spending.code, try isSpent("code", code) { return .foreignGrant }
        if let nonce = spending.nonce {
            try run("DELETE FROM apple_nonce WHERE digest = ?", [nonce.digest])
        }
        try note("token", spending.token, until: spending.tokenExpiresAt)
        if let code = spending.code { try note("code", code, until: now + AppleSpending.codeMemory) }
        return nil
    }

    /// After Apple did not answer.
    func giveBack(_ spending: AppleSpending, now: Timestamp) throws {
        let back: Statement = "DELETE FROM apple_spent WHERE kind = ? AND digest = ?"
        try run(back, ["token", spending.token])
        if let code = spending.code { try run(back, ["code", code]) }
        if let nonce = spending.nonce { try insert(nonce, until: now + AppleNonceRecord.shortLifetime) }
    }

    private func isSpent(_ kind: String, _ digest: Digest) throws -> Bool {
        try hasRow("SELECT 1 FROM apple_spent WHERE kind = ? AND digest = ?", [kind, digest])
    }

    private func note(_ kind: String, _ digest: Digest, until: Timestamp) throws {
        try run("INSERT INTO apple_spent (kind, digest, expires_at_ms) VALUES (?, ?, ?)", [kind, digest, until])
    }
}
