internal import AuthenticationAdministration
internal import AuthenticationCore
internal import AuthenticationSignIn
internal import AuthenticationUpstreams
internal import Catalogue
internal import Clocks
internal import ContractRuntime
internal import Cryptography
internal import Identifiers
internal import Logging
internal import OutboundHttp
internal import Tokens
internal import UsageCounting

/// The four modules of authentication, put together on one store. It is a class: its parts are many, and closures hold them.
final class AuthenticationProgram: Sendable {
    let clients: ClientServices
    let sessions: SessionServices
    let upstreams: UpstreamServices
    let signIn: SignInServices
    let administration: AdministrationServices
    let reports: SignInReports
    /// `nil`: the database's clock is the measure.
    let clockDoubt: ClockDoubt?
    private let saml: SamlServiceProvider
    private let userIDs: SymmetricKeyRing
    private let oauthKeys: OAuthKeys

    /// The audience of access tokens: the API of this deployment.
    private static let audience = "boxoffice-api"

    /// - Parameters:
    ///   - settings: The `authentication` object of the settings file.
    ///   - keys: The contents of the files named there.
    ///   - accessTokenKeys: Those of access tokens, which may change meanwhile.
    ///   - secretKeys: Those of secrets that administrators write.
    ///   - storedTokenKeys: Those of tokens that apps keep, which may change meanwhile.
    ///   - storedTokenSeals: Those of what is sealed in these tokens.
    ///   - serviceTokenKeys: Those of service tokens, which may change meanwhile.
    ///   - clientSecrets: Absolute path of the folder that the settings name.
    ///   - transport: Reaches OAuth providers; its owner shuts it down.
    ///   - upstreams: Reaches upstreams, whose lists are long; its owner shuts it down.
    ///   - clientCertificates: Those that upstreams are shown.
    ///   - database: The open store of this service.
    ///   - usage: Counts what happens, for reports.
    init(
        _ settings: AuthenticationSettings, keys: AuthenticationKeys, accessTokenKeys: SigningKeys, secretKeys: AuthenticationKeys.SecretKeys,
        storedTokenKeys: SigningKeys, storedTokenSeals: AuthenticationKeys.SecretKeys, serviceTokenKeys: ServiceTokenKeys, clientSecrets: String?,
        transport: any OutboundTransport, upstreams transportUp: any OutboundTransport, clientCertificates: ClientCertificates,
        database: AuthenticationDatabase, catalogue: any CatalogueSource, usage: UsageCounter, clock: any WallClock, logger: Logger
    ) throws {
        let (random, store) = (SystemRandom(), database.store)
        saml = SamlServiceProvider(settings, keys, random: random)
        userIDs = SymmetricKeyRing(current: keys.userID)
        oauthKeys = keys.oauth
        clockDoubt = store.isDistributed ? nil : ClockDoubt(logger: logger)
        let environment = AuthenticationEnvironment(
            catalogue: catalogue, store: store, clock: clock, random: random, scrambler: UserIDScrambler(keys: userIDs), keys: oauthKeys,
            activationOrigins: Set(settings.activationOrigins), usage: usage, clockDoubt: clockDoubt, logger: logger)
        reports = SignInReports(store: store)
        clients = ClientServices(
            environment,
            issuer: AccessTokenIssuer(
                keys: accessTokenKeys, issuer: settings.spEntityID, audience: Self.audience, lifetime: .seconds(Int64(settings.accessTokenTTL)),
                clock: clock),
            verifier: AccessTokenVerifier(keys: accessTokenKeys, issuer: settings.spEntityID, audience: Self.audience, clock: clock),
            serviceTokenKeys: serviceTokenKeys, secretFolder: ClientSecretFolder(path: clientSecrets),
            secretSeals: SecretSeals(current: secretKeys.current, older: secretKeys.older))
        upstreams = UpstreamServices(
            environment, clients, store: store, transport: transportUp, certificates: clientCertificates, origin: settings.origin,
            adoptUntil: settings.adoptUntil, reports: reports)
        let delegates = upstreams.delegates
        sessions = SessionServices(
            environment, clients, storedTokenKeys: storedTokenKeys,
            storedTokenSeals: try StoredTokenSeals(storedTokenSeals.current, older: storedTokenSeals.older),
            codeLimits: CodeLimits(perClient: settings.codesPerClient, perDevice: settings.codesPerDevice), delegates: delegates)
        let addresses = SignInAddresses(
            logoutVisit: settings.origin + "/adobe-services/logout?handle=", logoutReturn: settings.origin + "/adobe-services/logout/oauth",
            oauthCallback: settings.oauthCallbackURL, oauthCallbackRule: settings.sharedCallback)
        let tests = TestSignIns(environment, clients, saml: saml, addresses: addresses, transport: transport, reports: reports)
        signIn = SignInServices(
            environment, clients, sessions, serviceTokenKeys: serviceTokenKeys, saml: saml, logout: saml, addresses: addresses,
            transport: transport, delegates: delegates, reports: reports, tests: tests)
        administration = AdministrationServices(
            environment, clients, saml: saml, tests: tests, reports: reports, transport: transport,
            origin: TestOrigin.origin(settings.origin) ?? settings.origin, traces: [upstreams.traces], delegates: delegates)
    }

    /// Each module offers its own calls.
    func register(on calls: inout some MethodRegistry) {
        for module in [clients, sessions, upstreams, signIn, administration] as [any CallRegistration] { module.register(on: &calls) }
    }

    /// Takes in what the files of SAML keys, user ids and OAuth seals hold now, all of them.
    /// - Throws: `CryptographyError`; nothing has changed then.
    func adopt(_ keys: AuthenticationKeys) throws {
        try oauthKeys.adopt(keys.oauthKey, older: keys.olderOAuthKeys)
        saml.adopt(keys)
        userIDs.adopt(current: keys.userID, older: [])
        signIn.signedMetadata.forget()
    }
}
