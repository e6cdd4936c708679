package import Catalogue
package import Clocks
package import ContractRuntime
internal import Contracts
internal import Cryptography
internal import Faults
package import Identifiers
package import Logging
package import Tokens
package import UsageCounting

/// Clients, their tokens and signatures, and the secrets that the catalogue names.
package struct ClientServices: CallRegistration {
    package let secrets: KeptSecrets
    /// Those that are used: the kept ones, unless a test brings others.
    package let clientSecrets: any ClientSecrets
    package let bearers: BearerCheck
    package let serviceTokens: ServiceTokenCheck
    package let unused: UnusedClients
    private let calls: [any CallRegistration]

    /// - Parameters:
    ///   - issuer: The issuer of access tokens.
    ///   - clientSecrets: In place of the kept ones.
    package init(
        _ environment: AuthenticationEnvironment, issuer: AccessTokenIssuer, verifier: AccessTokenVerifier, serviceTokenKeys: ServiceTokenKeys,
        secretFolder: ClientSecretFolder, secretSeals: SecretSeals, clientSecrets: (any ClientSecrets)? = nil
    ) {
        let (catalogue, store, clock) = (environment.catalogue, environment.store, environment.clock)
        let (metrics, logger) = (environment.metrics, environment.logger)
        secrets = KeptSecrets(folder: secretFolder, store: store, seals: secretSeals, clock: clock)
        self.clientSecrets = clientSecrets ?? secrets
        let recent = RecentSecrets(self.clientSecrets, clock: clock)
        serviceTokens = ServiceTokenCheck(keys: serviceTokenKeys, store: store, clock: clock)
        bearers = BearerCheck(
            tokens: verifier, catalogue: catalogue, store: store, clock: clock, metrics: metrics,
            signatures: SignedRequestCheck(secrets: recent, nonces: UsedNonces(store: store), clock: clock, logger: logger),
            serviceTokens: serviceTokens, platforms: PlatformIdentities(clock: clock, secrets: self.clientSecrets, logger: logger))
        unused = UnusedClients(bearers: bearers, store: store, clock: clock, logger: logger)
        calls = [
            secrets, bearers,
            ClientRegistration(catalogue: catalogue, store: store, clock: clock, random: environment.random, metrics: metrics),
            AccessTokenIssue(tokens: issuer, catalogue: catalogue, store: store, clock: clock, secrets: recent, metrics: metrics),
            ClientRevocation(bearers: bearers, store: store, metrics: metrics),
        ]
    }

    package func register(on calls: inout some MethodRegistry) { for owner in self.calls { owner.register(on: &calls) } }
}

/// Codes and sessions that are there: how they are made, found, told and kept by apps.
package struct SessionServices: CallRegistration {
    package let codes: RegistrationCodes
    package let lookup: SessionLookup
    package let stored: StoredSessions
    package let metadata: UserMetadataAnswer
    package let trials: TrialPlays
    package let storedTokenKeys: SigningKeys
    private let devices: DeviceIdentities

    /// - Parameters:
    ///   - storedTokenKeys: Sign the tokens that apps keep (clients §3).
    ///   - storedTokenSeals: Seal what these tokens hold.
    ///   - delegates: Know of sessions that this cluster did not make by itself.
    package init(
        _ environment: AuthenticationEnvironment, _ clients: ClientServices, storedTokenKeys: SigningKeys, storedTokenSeals: StoredTokenSeals,
        codeLimits: CodeLimits, delegates: Delegates
    ) {
        let (catalogue, store, clock, random) = (environment.catalogue, environment.store, environment.clock, environment.random)
        let (bearers, scrambler, metrics, logger) = (clients.bearers, environment.scrambler, environment.metrics, environment.logger)
        self.storedTokenKeys = storedTokenKeys
        codes = RegistrationCodes(
            bearers: bearers, catalogue: catalogue, store: store, clock: clock, random: random, userIDs: scrambler, metrics: metrics,
            offers: delegates.offers, tokens: delegates.tokens, limits: codeLimits)
        devices = DeviceIdentities(
            bearers: bearers, seals: storedTokenSeals, userIDs: scrambler, limit: FingerprintLimit(), random: random, clock: clock)
        stored = StoredSessions(
            bearers: bearers, catalogue: catalogue, store: store, clock: clock, issuer: StoredTokenIssuer(keys: storedTokenKeys),
            verifier: StoredTokenVerifier(.authentication, keys: storedTokenKeys), seals: storedTokenSeals, userIDs: scrambler, metrics: metrics,
            logger: logger)
        lookup = SessionLookup(
            bearers: bearers, catalogue: catalogue, store: store, clock: clock, metrics: metrics, stored: stored, methods: delegates.browser)
        trials = TrialPlays(catalogue: catalogue, store: store, clock: clock, random: random, metrics: metrics)
        metadata = UserMetadataAnswer(
            bearers: bearers, sessions: lookup, trials: trials, store: store, clock: clock, logger: logger, deciders: delegates.deciders)
    }

    package func register(on calls: inout some MethodRegistry) {
        for owner in [codes, devices, lookup, metadata, trials] as [any CallRegistration] { owner.register(on: &calls) }
        calls.unary(AuthenticationMethods.issueStoredToken) { request, _ in
            let (record, catalogue) = try await lookup.session(toKeep: request)
            return StoredAuthentication(token: try stored.token(of: record), metadata: try await metadata.metadata(of: record, in: catalogue))
        }
        calls.unary(AuthenticationMethods.getStoredTokenKeys) { _, _ in StoredTokenKeys(jwks: storedTokenKeys.keySet.json) }
    }
}

/// The catalogue, the store and the clock that all parts of authentication share.
package struct AuthenticationEnvironment: Sendable {
    package let catalogue: any CatalogueSource
    package let store: SqlAuthenticationStore
    package let clock: any WallClock
    package let random: any RandomSource
    package let scrambler: UserIDScrambler
    package let keys: OAuthKeys
    package let ends: SignInEnds
    package let metrics: AuthenticationMetrics
    package let logger: Logger

    /// - Parameters:
    ///   - activationOrigins: Where sign-ins may end beside the requestors' own addresses.
    ///   - usage: Counts what happens, for reports.
    ///   - clockDoubt: `nil`: the database's clock is the measure.
    package init(
        catalogue: any CatalogueSource, store: SqlAuthenticationStore, clock: any WallClock, random: any RandomSource,
        scrambler: UserIDScrambler, keys: OAuthKeys, activationOrigins: Set<String>, usage: UsageCounter, clockDoubt: ClockDoubt?, logger: Logger
    ) {
        (self.catalogue, self.store, self.clock, self.random) = (catalogue, store, clock, random)
        (self.scrambler, self.keys, self.logger) = (scrambler, keys, logger)
        ends = SignInEnds(activationOrigins: activationOrigins)
        store.lives.follow(catalogue)
        let mvpds = MvpdCounter("boxoffice_authentication_mvpd_sign_ins_total", catalogue: catalogue, logger: logger)
        metrics = AuthenticationMetrics(usage: usage, mvpds: mvpds, returns: MvpdReturnCounter(), clock: clockDoubt)
    }
}
