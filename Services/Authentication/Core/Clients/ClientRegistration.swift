internal import Catalogue
internal import Clocks
internal import ContractRuntime
internal import Contracts
internal import Cryptography
internal import Faults
internal import Identifiers
internal import Tokens

/// Turns a software statement into a client (rest-v1 §3.1).
struct ClientRegistration: Sendable {
    /// The one grant of this API (rest-v1 §3.2).
    static let grantType = "client_credentials"

    let catalogue: any CatalogueSource
    let store: SqlAuthenticationStore
    let clock: any WallClock
    let random: any RandomSource
    let metrics: AuthenticationMetrics

    /// - Throws: `invalid_request`, `invalid_software_statement`, `unapproved_software_statement`, `invalid_redirect_uri`.
    func register(_ request: RegisterClientRequest) async throws(Fault) -> RegisteredClient {
        let catalogue = try catalogue.current()
        guard !request.softwareStatement.isEmpty else { throw Fault(.invalidRequest, "Required 'software_statement' is not present") }
        let software = try Self.softwareID(of: request.softwareStatement, in: catalogue)
        guard let application = catalogue.application(softwareID: software.text) else {
            throw Fault(.unapprovedSoftwareStatement, "The software statement is not known or was revoked.")
        }
        try requireRedirect(request.redirectURI, application, catalogue)
        let secret = ClientSecret.random(from: random)
        let client = Client(
            id: ClientID(random.uuid()), secretDigest: secret.digest, softwareID: software, redirectURI: request.redirectURI,
            issuedAt: clock.now())
        try await store.add(client)
        metrics.registeredClients.increment()
        return RegisteredClient(
            clientID: client.id.text, clientSecret: secret.text, issuedAtSeconds: UInt64(clamping: client.issuedAt.seconds),
            redirectUris: request.redirectURI.isEmpty ? [] : [request.redirectURI], grantTypes: [Self.grantType],
            scopes: ClientDirectory.scopes(of: application, software: software), requestorIDs: application.requestorIDs)
    }

    private func requireRedirect(_ redirect: String, _ application: Application, _ catalogue: Catalogue) throws(Fault) {
        guard !redirect.isEmpty else { return }
        let requestors = application.requestorIDs.compactMap(catalogue.requestor)
        let schemes = requestors.flatMap(catalogue.customSchemes)
        guard RedirectRules.accepts(registered: redirect, application: application, requestors: requestors, customSchemes: schemes) else {
            throw Fault(.invalidRedirectURI, "The redirect_uri is not among the application's.")
        }
    }

    /// A statement that another house signed counts where exactly its text is listed. We cannot check its signature, so the text is a password
    /// (clients §2.1).
    private static func softwareID(of statement: String, in catalogue: Catalogue) throws(Fault) -> SoftwareID {
        let digest = Catalogue.legacySoftware + Hex.encode(SHA256.hash(Array(statement.utf8)))
        // To choose a text by the time that this takes, an attacker would have to find one for a digest.
        if catalogue.application(softwareID: digest) != nil { return SoftwareID(digest) }
        let keys = catalogue.configuration.statementKeys
        let keySet: JSONWebKeySet
        do throws(CryptographyError) {
            keySet = try JSONWebKeySet(json: keys)
        } catch {
            // The catalogue is at fault, not the client.
            throw Fault(.unavailable, "Software statements cannot be checked at the moment.", retryAfter: .seconds(30), cause: error)
        }
        do throws(TokenRejection) {
            return SoftwareID(try SoftwareStatementVerifier(keySet: keySet).verify(statement).softwareID)
        } catch {
            throw Fault(.invalidSoftwareStatement, Self.flaw(error), cause: error)
        }
    }

    private static func flaw(_ rejection: TokenRejection) -> String {
        switch rejection {
        case .malformed, .wrongType: "The software statement is no compact JWS of that kind: send its text exactly as it was issued."
        case .unknownKey: "The software statement is signed by a key that is not known here: use one that was issued here, or have it listed."
        default: "The signature of the software statement does not hold: send its text exactly as it was issued."
        }
    }
}

/// Ends a client: it has to register anew (rest-v1 §4.1).
struct ClientRevocation: Sendable {
    let bearers: BearerCheck
    let store: SqlAuthenticationStore
    let metrics: AuthenticationMetrics

    /// Returns when no call of the client is accepted any more.
    /// - Returns: False when there was no such client.
    func revoke(_ client: ClientID) async throws(Fault) -> Bool {
        let wasKnown = try await store.revoke(client)
        bearers.forgetTokens()
        if wasKnown { metrics.revokedClients.increment() }
        return wasKnown
    }
}

extension ClientRegistration: CallRegistration {
    package func register(on calls: inout some MethodRegistry) {
        calls.unary(AuthenticationMethods.registerClient) { request, _ in try await register(request) }
    }
}

extension ClientRevocation: CallRegistration {
    /// - Throws: `invalid_request` without a client id.
    package func register(on calls: inout some MethodRegistry) {
        calls.unary(AuthenticationOperationsMethods.revokeClient) { request, _ in
            guard !request.clientID.isEmpty else { throw Fault(.invalidRequest, "Required 'client_id' is not present") }
            return RevokeClientResponse(wasKnown: try await revoke(ClientID(request.clientID)))
        }
    }
}
