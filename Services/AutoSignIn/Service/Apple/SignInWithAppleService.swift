internal import Clocks
public import ContractRuntime
public import Contracts
internal import Faults
internal import Identifiers
internal import Logging
internal import Storage

/// Sign in with Apple, as the gateway calls it (apple §2, §4).
public struct SignInWithAppleService: SignInWithApple {
    private let parts: AppleParts
    private let operations: AppleOperations

    init(_ parts: AppleParts, _ operations: AppleOperations) {
        self.parts = parts
        self.operations = operations
    }

    public func createNonce(_ request: CreateNonceRequest, context: CallContext) async throws -> Nonce {
        let caller = try await parts.base.callers.device(request.call, context)
        let app = try parts.base.parts.catalogue.current().requireNativeApp(request.clientID, of: caller.programmer)
        let nonce = AppleNonceText.random(from: parts.base.parts.random)
        let record = AppleNonceRecord(nonce.text, holder: caller.holder, client: app.client)
        let until = parts.now() + AppleNonceRecord.lifetime
        try await parts.store.change(record.insert(until: until), of: caller.holder)
        return Nonce(nonce: nonce.text, expiresAtMilliseconds: UInt64(clamping: until.milliseconds))
    }

    public func signIn(_ request: AppleSignInRequest, context: CallContext) async throws -> AppleSignInOutcome {
        try await AppleSignIn(parts: parts).signIn(request, context)
    }

    public func linkApple(_ request: LinkAppleRequest, context: CallContext) async throws -> AppleLink {
        try await AppleLinks(parts: parts).link(request, context)
    }

    public func unlinkApple(_ request: UnlinkAppleRequest, context: CallContext) async throws -> UnlinkAppleResponse {
        try await AppleLinks(parts: parts).unlink(request, context)
    }

    public func receiveNotification(_ request: AppleNotification, context: CallContext) async throws -> AppleNotificationResponse {
        try await AppleNotifications(parts: parts, operations: operations).receive(request)
    }

    public func startWebSignIn(_ request: StartWebSignInRequest, context: CallContext) async throws -> WebSignInStart {
        try await AppleWebSignIn(parts: parts).start(request)
    }

    public func completeWebSignIn(_ request: CompleteWebSignInRequest, context: CallContext) async throws -> WebSignInOutcome {
        try await AppleWebSignIn(parts: parts).complete(request)
    }
}

enum AppleNonceSubject {}
/// The nonce that an app hands to Apple and gets back in the identity token.
typealias AppleNonceText = Secret<AppleNonceSubject>

/// The operations of Sign in with Apple for other parts of the service.
struct AppleOperations: Sendable {
    let parts: AppleParts

    /// The person's links, oldest first.
    func links(of account: AccountID) async throws(Fault) -> [AppleLink] {
        try await parts.store.store.read { try $0.appleLinks(of: account).map { AppleLink($0) } }
    }

    /// Asks Apple whether the link's session goes on, at most once a day (apple §2.5).
    /// - Throws: `not_found`.
    func validate(_ link: AppleLinkID, _ context: CallContext) async throws(Fault) -> AppleSessionState {
        try await AppleSessionChecks(parts: parts).check(link)
    }

    /// Ends the link here, and the authorization at Apple through the outbox.
    /// - Returns: False when there is no such link.
    func revoke(_ link: AppleLinkID, reason: String) async throws(Fault) -> Bool {
        let now = parts.now()
        let wasKnown = try await parts.store.change { database, touched in
            guard let record = try database.appleLink(link) else { return false }
            try database.withdraw(record, &touched, now: now)
            // The tokens have gone into letters; what is left is that the consent is over.
            try database.consentEnded(record, group: nil, &touched, now: now)
            return true
        }
        if wasKnown {
            parts.base.parts.logger.notice("apple.link_revoked", metadata: ["link": "\(link)"])
            parts.base.outbox.wake()
        }
        return wasKnown
    }

    /// apple §2.10.
    func exchangeTransfer(_ request: ExchangeTransferRequest, _ context: CallContext) async throws(Fault) -> ExchangedTransfer {
        try await AppleTransfers(parts: parts).exchange(request)
    }

    /// - Returns: The number of identifiers that were taken in.
    func importTransfers(_ request: ImportTransfersRequest) async throws(Fault) -> Int {
        try await AppleTransfers(parts: parts).take(request)
    }

    /// In the commit that closes an account: forgets its links, and leaves a letter of kind `revoke` for each refresh token.
    func forget(_ account: AccountID, in database: Database, _ touched: inout Touched, now: Timestamp) throws {
        for link in try database.appleLinks(of: account) {
            try database.withdraw(link, &touched, now: now)
            try database.remove(link.id)
        }
        try database.removeTransfers(of: account)
    }
}
