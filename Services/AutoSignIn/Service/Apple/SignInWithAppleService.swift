internal import Clocks
public import ContractRuntime
public import Contracts
internal import Faults
internal import Identifiers

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
/// What an app hands to Apple and gets back in the identity token.
typealias AppleNonceText = Secret<AppleNonceSubject>
