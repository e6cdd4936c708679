internal import Clocks
internal import Cryptography
internal import Faults
internal import Storage

/// A client's proof of a person's sign-in at Apple.
struct AppleClaim: Sendable {
    let identityToken: String
    /// Empty: none.
    let code: String
    let nonce: String
    let name: PersonName?
}

/// Proves who a person is: the identity token, what it is tied to, and the exchange of the code (apple §2.2, §2.4).
struct AppleProofs: Sendable {
    /// The holder that asks: a value given out for one holder is good for no other.
    enum Tie: Sendable {
        /// A nonce of ours, for this client and device.
        case nonce(holder: String)
        /// A nonce that follows from the state of a web sign-in, which is spent already.
        case state(redirectURI: String)
    }

    let keys: AppleKeys
    let apple: AppleIDClient
    let store: AutoSignInStore
    let clock: any WallClock

    /// Nonce, token and code are spent when this returns; only where Apple is away they may be used again.
    /// - Throws: The codes of apple §2.2 and §2.11; faults of the storage.
    func prove(_ claim: AppleClaim, app: AppleApp, tie: Tie) async throws(Fault) -> AppleAuthorization {
        let now = clock.now()
        var expected = IdentityTokenExpectation(clientID: app.client.text, nonce: claim.nonce, code: claim.code.isEmpty ? nil : claim.code)
        if case .nonce(let holder) = tie, !(try await isLive(claim.nonce, holder, app, now)) { expected.nonce = nil }
        let token = try await verify(claim.identityToken, expecting: expected, now: now)
        if token.nonceStanding == .unsupported, claim.code.isEmpty { throw IdentityTokenRejection.nonce.fault }
        let spending = AppleSpending(claim, tie, app, token)
        try await store.spend(spending, now: now)
        let refreshToken = try await exchange(claim, app, tie, token, spending)
        return AppleAuthorization(token, app: app, refreshToken: refreshToken, name: claim.name)
    }

    private func isLive(_ nonce: String, _ holder: String, _ app: AppleApp, _ now: Timestamp) async throws(Fault) -> Bool {
        guard !nonce.isEmpty else { return false }
        let record = AppleNonceRecord(nonce, holder: holder, client: app.client)
        return try await store.isLive(record, now: now)
    }

    private func verify(
        _ text: String, expecting expected: IdentityTokenExpectation, now: Timestamp
    ) async throws(Fault) -> VerifiedIdentityToken {
        let token = try Self.read(text)
        var key: AppleKey?
        if let name = token.keyName { key = try await keys.key(name) }
        do throws(IdentityTokenRejection) {
            return try VerifiedIdentityToken(token, key: key, expecting: expected, now: now.seconds)
        } catch .signature {
            // Apple may have replaced the key and kept its name.
            guard let name = token.keyName, let newer = await keys.newerKey(name) else { throw IdentityTokenRejection.signature.fault }
            do throws(IdentityTokenRejection) {
                return try VerifiedIdentityToken(token, key: newer, expecting: expected, now: now.seconds)
            } catch {
                throw error.fault
            }
        } catch {
            throw error.fault
        }
    }

    private static func read(_ text: String) throws(Fault) -> UnverifiedIdentityToken {
        do throws(IdentityTokenRejection) { return try UnverifiedIdentityToken(text) } catch { throw error.fault }
    }

    private func exchange(
        _ claim: AppleClaim, _ app: AppleApp, _ tie: Tie, _ token: VerifiedIdentityToken, _ spending: AppleSpending
    ) async throws(Fault) -> AppleRefreshToken? {
        guard !claim.code.isEmpty else { return nil }
        var redirectURI: String?
        if case .state(let address) = tie { redirectURI = address }
        let grant: AppleGrant
        do throws(Fault) {
            grant = try await apple.exchange(code: claim.code, app: app, redirectURI: redirectURI)
        } catch {
            // Nothing has succeeded with them yet.
            let now = clock.now()
            if error.code == .appleUnavailable { try? await store.store.write { try $0.giveBack(spending, now: now) } }
            throw error
        }
        let expected = IdentityTokenExpectation(clientID: app.client.text, nonce: claim.nonce, accessToken: grant.accessToken.text)
        let own = try await verify(grant.identityToken, expecting: expected, now: clock.now())
        guard own.subject == token.subject else { throw IdentityTokenRejection.subject.fault }
        return grant.refreshToken
    }
}
