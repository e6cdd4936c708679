public import ContractRuntime
public import Contracts
internal import Faults

/// Sign in with Apple: the double accepts any identity token that comes with a nonce of its own.
extension InMemoryAutoSignIn: SignInWithApple {
    public func createNonce(_ request: CreateNonceRequest, context: CallContext) async throws -> Nonce {
        let (caller, _) = try caller(request.call)
        return Nonce(nonce: DerivedIdentity.digest("nonce", caller.clientID, caller.deviceID), expiresAtMilliseconds: now + 300_000)
    }

    public func signIn(_ request: AppleSignInRequest, context: CallContext) async throws -> AppleSignInOutcome {
        let (caller, _) = try caller(request.call)
        try prove(caller, request.identityToken, nonce: request.nonce)
        let person = sessions.subject(device: caller.deviceID, requestor: caller.requestor).session ?? Session()
        let account = Self.account(person.userID)
        let isNew = link(account)
        let session = try streaming(request.call, account: account, userID: person.userID, mvpd: person.mvpd, as: .apple)
        return AppleSignInOutcome(outcome: .signedIn(AppleSignedIn(session: session, isNew: isNew, realUserPolicy: .skipChecks)))
    }

    public func linkApple(_ request: LinkAppleRequest, context: CallContext) async throws -> AppleLink {
        let (caller, account) = try caller(request.call)
        guard let account else { throw Fault(.authenticationSessionMissing, "The device has no session.") }
        try prove(caller, request.identityToken, nonce: request.nonce)
        _ = link(account)
        return books.withLock { $0.links[Self.linkID(account)]?.contract } ?? AppleLink()
    }

    public func unlinkApple(_ request: UnlinkAppleRequest, context: CallContext) async throws -> UnlinkAppleResponse {
        let account = try account(of: request.caller) ?? ""
        books.withLock { _ = $0.links.removeValue(forKey: Self.linkID(account)) }
        return UnlinkAppleResponse()
    }

    public func receiveNotification(_ request: AppleNotification, context: CallContext) async throws -> AppleNotificationResponse {
        guard request.payload.split(separator: ".", omittingEmptySubsequences: false).count == 3 else {
            throw Fault(.appleNotificationInvalid, "The notification is no signed token.")
        }
        return AppleNotificationResponse(hadEffect: false)
    }

    public func startWebSignIn(_ request: StartWebSignInRequest, context: CallContext) async throws -> WebSignInStart {
        _ = try sessions.config.catalogue.requireRequestor(request.requestor)
        let number = numbers.next()
        let state = DerivedIdentity.digest("web-state", "\(number)")
        let secret = DerivedIdentity.digest("web-secret", "\(number)")
        books.withLock { $0.webSignIns[state] = (secret, request.requestor, request.returnURL) }
        return WebSignInStart(
            url: "\(sessions.behaviour.publicOrigin)/devices?state=\(state)", browserSecret: secret, expiresInSeconds: 600)
    }

    public func completeWebSignIn(_ request: CompleteWebSignInRequest, context: CallContext) async throws -> WebSignInOutcome {
        let started = books.withLock { $0.webSignIns.removeValue(forKey: request.state) }
        guard let started, started.secret == request.browserSecret else {
            throw Fault(.stateInvalid, "The answer belongs to no sign-in of this browser.")
        }
        guard request.error.isEmpty else { return WebSignInOutcome(outcome: .cancelled(WebCancelled(returnURL: started.returnURL))) }
        let secret = DerivedIdentity.digest("web", "\(numbers.next())")
        let account = Self.account(DerivedIdentity.digest("user", request.identityToken))
        books.withLock { $0.browsers[secret] = (account, started.requestor) }
        let isNew = link(account)
        let session = WebSession(secret: secret, expiresInSeconds: 1800, requestor: started.requestor)
        return WebSignInOutcome(outcome: .signedIn(WebSignedIn(session: session, returnURL: started.returnURL, isNew: isNew)))
    }

    private func prove(_ caller: IdentifiedCaller, _ identityToken: String, nonce: String) throws(Fault) {
        guard !identityToken.isEmpty else { throw Fault(.appleTokenMalformed, "The identity token is absent.") }
        guard nonce == DerivedIdentity.digest("nonce", caller.clientID, caller.deviceID) else {
            throw Fault(.appleNonceMismatch, "The nonce is not this device's.")
        }
    }

    /// - Returns: Whether there was no link before.
    private func link(_ account: String) -> Bool {
        let moment = now
        let id = Self.linkID(account)
        return books.withLock { books in
            guard books.links[id] == nil else { return false }
            let contract = AppleLink(
                id: id, teamID: "DOUBLE0000", accountID: account, state: .active, authorizedAtMilliseconds: moment, isMailAllowed: true)
            books.links[id] = Link(contract: contract)
            return true
        }
    }

    private static func linkID(_ account: String) -> String { DerivedIdentity.uuid("apple-link", account) }
}
