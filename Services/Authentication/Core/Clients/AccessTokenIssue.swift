internal import Catalogue
internal import Clocks
internal import ContractRuntime
internal import Contracts
internal import Cryptography
internal import Faults
internal import Tokens

/// Gives a client an access token for its credentials (rest-v1 §3.2).
struct AccessTokenIssue: Sendable {
    /// Compared with when the client is unknown, so that an unknown id takes as long as a wrong secret.
    private static let nobody = SecretDigest(bytes: [UInt8](repeating: 0, count: 32))

    let tokens: AccessTokenIssuer
    let catalogue: any CatalogueSource
    let store: SqlAuthenticationStore
    let clock: any WallClock
    let secrets: RecentSecrets
    let uses = ClientUses()
    let metrics: AuthenticationMetrics

    /// - Throws: `invalid_request`, `unsupported_grant_type`, `invalid_client` (unknown id, wrong secret, revoked statement).
    func issue(_ request: IssueAccessTokenRequest) async throws(Fault) -> AccessToken {
        for (name, value) in [("grant_type", request.grantType), ("client_id", request.clientID), ("client_secret", request.clientSecret)]
        where value.isEmpty {
            throw Fault(.invalidRequest, "Required '\(name)' is not present")
        }
        guard request.grantType == ClientRegistration.grantType else {
            throw Fault(.unsupportedGrantType, "The only grant type is \(ClientRegistration.grantType).")
        }
        let known = try await store.client(ClientID(request.clientID))
        // An id that was issued here is that client's, whatever the catalogue says.
        if known == nil, let imported = try catalogue.current().importedClient(request.clientID) {
            return try await issue(request, to: imported.client, of: imported.application)
        }
        let client = try Self.authenticated(known, request)
        let application = try catalogue.current().application(
            softwareID: client.softwareID.text, registeredAtMilliseconds: client.issuedAt.milliseconds)
        guard let application else {
            throw Fault(.invalidClient, "The client's software statement is no longer accepted.")
        }
        let token = try issued(client.id.text, ClientDirectory.scopes(of: application, software: client.softwareID), application)
        await noteUse(client)
        return token
    }

    /// One that another house registered (clients §2.1): it does not expire by disuse, so that its use is not noted.
    private func issue(
        _ request: IssueAccessTokenRequest, to client: ImportedClient, of application: Application
    ) async throws(Fault) -> AccessToken {
        let secret = try await secrets.secret(SecretReference(client.secretReference))
        guard let secret, ConstantTime.equal(secret.text, request.clientSecret) else { throw Self.unknown }
        return try issued(client.clientID, ClientDirectory.sharedScopes, application)
    }

    private func issued(_ client: String, _ scopes: [String], _ application: Application) throws(Fault) -> AccessToken {
        let issued = try tokens.issue(client: client, scopes: scopes)
        metrics.issuedTokens.increment()
        return AccessToken(
            id: issued.id, accessToken: issued.token, createdAtMilliseconds: UInt64(clamping: issued.issuedAt.milliseconds),
            expiresInSeconds: UInt32(clamping: issued.expiresAt.seconds - issued.issuedAt.seconds), scopes: scopes,
            requestorIDs: application.requestorIDs)
    }

    /// By the day: a busy client costs a write a day. A store that is full or away keeps nobody from a token.
    private func noteUse(_ client: Client) async {
        let now = clock.now()
        // A registration is noted by itself.
        guard now - client.issuedAt >= ClientUses.interval, uses.isNews(client.id, now: now) else { return }
        try? await store.noteUse(of: client.id, at: now)
    }

    private static func authenticated(_ client: Client?, _ request: IssueAccessTokenRequest) throws(Fault) -> Client {
        let matches = (client?.secretDigest ?? nobody).matches(ClientSecret(request.clientSecret))
        guard let client, matches else { throw unknown }
        return client
    }

    private static let unknown = Fault(.invalidClient, "The client is not known, or its secret is wrong.")
}

extension AccessTokenIssue: CallRegistration {
    package func register(on calls: inout some MethodRegistry) {
        calls.unary(AuthenticationMethods.issueAccessToken) { request, _ in try await issue(request) }
    }
}
