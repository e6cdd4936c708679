public import ContractRuntime
public import Contracts

/// Automatic Sign-In as other services see it (apple §4).
public struct AutomaticSignInService: AutomaticSignIn {
    private let issue: TokenIssue
    private let redeemer: Redeemer
    private let rotation: TokenRotation
    private let revocations: Revocations
    private let reader: OptInReader
    private let webSessions: WebSessions

    init(_ base: AutoSignInBase, apple: AppleOperations) {
        issue = TokenIssue(base: base)
        redeemer = Redeemer(base)
        rotation = TokenRotation(base: base)
        revocations = Revocations(base)
        reader = OptInReader(base: base, apple: apple)
        webSessions = base.webSessions
    }

    public func issueToken(_ request: IssueTokenRequest, context: CallContext) async throws -> IssuedToken {
        try await issue.issue(request, context)
    }

    public func confirmStored(_ request: ConfirmStoredRequest, context: CallContext) async throws -> TokenFamily {
        try await issue.confirm(request, context)
    }

    public func redeemToken(_ request: RedeemTokenRequest, context: CallContext) async throws -> RedeemedToken {
        try await redeemer.redeem(request, context)
    }

    public func rotateToken(_ request: RotateTokenRequest, context: CallContext) async throws -> Rotation {
        try await rotation.rotate(request, context)
    }

    public func revokeToken(_ request: RevokeTokenRequest, context: CallContext) async throws -> Revocation {
        try await revocations.revokeToken(request, context)
    }

    public func revokeAll(_ request: RevokeAllRequest, context: CallContext) async throws -> RevokedFamilies {
        try await revocations.revokeAll(request, context)
    }

    public func flagSignIn(_ request: FlagSignInRequest, context: CallContext) async throws -> RevokedFamilies {
        try await revocations.flag(request, context)
    }

    public func getOptInStatus(_ request: GetOptInStatusRequest, context: CallContext) async throws -> OptInStatus {
        try await reader.status(request, context)
    }

    public func createWebLink(_ request: CreateWebLinkRequest, context: CallContext) async throws -> WebLink {
        try await reader.createWebLink(request, context)
    }

    public func openWebLink(_ request: OpenWebLinkRequest, context: CallContext) async throws -> WebSession {
        try await webSessions.open(WebLinkHandle(request.handle))
    }

    public func endWebSession(_ request: EndWebSessionRequest, context: CallContext) async throws -> EndWebSessionResponse {
        try await webSessions.end(WebSessionSecret(request.webSession))
        return EndWebSessionResponse()
    }
}
