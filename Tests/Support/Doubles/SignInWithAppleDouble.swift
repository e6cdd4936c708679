public import ContractRuntime
public import Contracts

/// Stands in for Sign in with Apple; each operation answers as its script says.
public final class SignInWithAppleDouble: SignInWithApple {
    public let createNonce = Scripted<CreateNonceRequest, Nonce>()
    public let signIn = Scripted<AppleSignInRequest, AppleSignInOutcome>()
    public let linkApple = Scripted<LinkAppleRequest, AppleLink>()
    public let unlinkApple = Scripted<UnlinkAppleRequest, UnlinkAppleResponse>()
    public let receiveNotification = Scripted<AppleNotification, AppleNotificationResponse>()
    public let startWebSignIn = Scripted<StartWebSignInRequest, WebSignInStart>()
    public let completeWebSignIn = Scripted<CompleteWebSignInRequest, WebSignInOutcome>()

    public init() {}

    public func createNonce(_ request: CreateNonceRequest, context: CallContext) async throws -> Nonce {
        try await createNonce(request, context)
    }

    public func signIn(_ request: AppleSignInRequest, context: CallContext) async throws -> AppleSignInOutcome {
        try await signIn(request, context)
    }

    public func linkApple(_ request: LinkAppleRequest, context: CallContext) async throws -> AppleLink {
        try await linkApple(request, context)
    }

    public func unlinkApple(_ request: UnlinkAppleRequest, context: CallContext) async throws -> UnlinkAppleResponse {
        try await unlinkApple(request, context)
    }

    public func receiveNotification(_ request: AppleNotification, context: CallContext) async throws -> AppleNotificationResponse {
        try await receiveNotification(request, context)
    }

    public func startWebSignIn(_ request: StartWebSignInRequest, context: CallContext) async throws -> WebSignInStart {
        try await startWebSignIn(request, context)
    }

    public func completeWebSignIn(_ request: CompleteWebSignInRequest, context: CallContext) async throws -> WebSignInOutcome {
        try await completeWebSignIn(request, context)
    }
}
