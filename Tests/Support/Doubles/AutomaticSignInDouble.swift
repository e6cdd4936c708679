public import ContractRuntime
public import Contracts

/// Stands in for Automatic Sign-In; each operation answers as its script says.
public final class AutomaticSignInDouble: AutomaticSignIn {
    public let issueToken = Scripted<IssueTokenRequest, IssuedToken>()
    public let confirmStored = Scripted<ConfirmStoredRequest, TokenFamily>()
    public let redeemToken = Scripted<RedeemTokenRequest, RedeemedToken>()
    public let rotateToken = Scripted<RotateTokenRequest, Rotation>()
    public let revokeToken = Scripted<RevokeTokenRequest, Revocation>()
    public let revokeAll = Scripted<RevokeAllRequest, RevokedFamilies>()
    public let flagSignIn = Scripted<FlagSignInRequest, RevokedFamilies>()
    public let getOptInStatus = Scripted<GetOptInStatusRequest, OptInStatus>()
    public let createWebLink = Scripted<CreateWebLinkRequest, WebLink>()
    public let openWebLink = Scripted<OpenWebLinkRequest, WebSession>()
    public let endWebSession = Scripted<EndWebSessionRequest, EndWebSessionResponse>()

    public init() {}

    public func issueToken(_ request: IssueTokenRequest, context: CallContext) async throws -> IssuedToken {
        try await issueToken(request, context)
    }

    public func confirmStored(_ request: ConfirmStoredRequest, context: CallContext) async throws -> TokenFamily {
        try await confirmStored(request, context)
    }

    public func redeemToken(_ request: RedeemTokenRequest, context: CallContext) async throws -> RedeemedToken {
        try await redeemToken(request, context)
    }

    public func rotateToken(_ request: RotateTokenRequest, context: CallContext) async throws -> Rotation {
        try await rotateToken(request, context)
    }

    public func revokeToken(_ request: RevokeTokenRequest, context: CallContext) async throws -> Revocation {
        try await revokeToken(request, context)
    }

    public func revokeAll(_ request: RevokeAllRequest, context: CallContext) async throws -> RevokedFamilies {
        try await revokeAll(request, context)
    }

    public func flagSignIn(_ request: FlagSignInRequest, context: CallContext) async throws -> RevokedFamilies {
        try await flagSignIn(request, context)
    }

    public func getOptInStatus(_ request: GetOptInStatusRequest, context: CallContext) async throws -> OptInStatus {
        try await getOptInStatus(request, context)
    }

    public func createWebLink(_ request: CreateWebLinkRequest, context: CallContext) async throws -> WebLink {
        try await createWebLink(request, context)
    }

    public func openWebLink(_ request: OpenWebLinkRequest, context: CallContext) async throws -> WebSession {
        try await openWebLink(request, context)
    }

    public func endWebSession(_ request: EndWebSessionRequest, context: CallContext) async throws -> EndWebSessionResponse {
        try await endWebSession(request, context)
    }
}
