internal import BridgeClient
public import Catalogue
public import Clocks
internal import Cryptography
internal import Faults
internal import Identifiers
public import Logging
public import OutboundHttp
internal import SamlExplanation
public import Tokens
public import UsageCounting

/// Clients and their access tokens, registration codes, sign-in at an MVPD, and the sessions (authn tokens) that come of it.
///
/// A class: its parts take 130 KiB, and whoever serves its calls would hold a copy of them for each operation.
public final class AuthenticationService: Sendable {
    let callers: Callers
    let signIns: SignIns
    let sessions: SessionParts
    let trials: Trials
    /// `nil`: no upstream is used.
    let bridge: Bridge?
    let catalogue: any CatalogueSource
    let clock: any WallClock
    private let store: any AuthenticationStore
    private let logger: Logger
    /// `nil`: tests bring their own.
    private let keyFiles: KeyFiles?

    /// What changes with the files of keys.
    private struct KeyFiles: Sendable {
        let serviceProvider: SamlServiceProvider
        let userIDs: SymmetricKeyRing
        let oauth: OAuthKeys
    }

    convenience init(_ parts: Parts) { self.init(parts, nil) }

    private init(_ parts: Parts, _ keyFiles: KeyFiles?) {
        self.keyFiles = keyFiles
        parts.store.lives?.follow(parts.catalogue)
        let mvpds = MvpdCounter("boxoffice_authentication_mvpd_sign_ins_total", catalogue: parts.catalogue, logger: parts.logger)
        let metrics = AuthenticationMetrics(usage: parts.usage, mvpds: mvpds, clock: parts.clockDoubt)
        let callers = Callers(parts, metrics)
        self.callers = callers
        bridge = parts.bridge.map { Bridge($0, parts, callers, metrics) }
        sessions = SessionParts(parts, callers, bridge, metrics)
        trials = Trials(parts, callers, bridge, metrics)
        signIns = SignIns(parts, callers, trials, sessions, bridge, metrics)
        bridge?.journeys.tell { [reports = signIns.reports] in reports.add($0) }
        (catalogue, store, clock, logger) = (parts.catalogue, parts.store, parts.clock, parts.logger)
    }

    /// What the service is put together from.
    struct Parts: Sendable {
        var issuer: AccessTokenIssuer
        var verifier: AccessTokenVerifier
        var saml: any SamlSignIn
        var logout: any SamlLogout
        /// Of the gateway, before a handle.
        var logoutVisitAddress: String
        var logoutReturnAddress: String
        var oauth: OAuthParts
        var storedTokens: StoredTokenParts
        var serviceTokenKeys: ServiceTokenKeys
        var catalogue: any CatalogueSource
        var store: any AuthenticationStore
        var clock: any WallClock
        var random: any RandomSource
        var scrambler: UserIDScrambler
        var activationOrigins: Set<String>
        var codeLimits = CodeLimits(perClient: 100_000, perDevice: 100)
        var usage = UsageCounter()
        /// `nil`: the database's clock is the measure.
        var clockDoubt: ClockDoubt?
        var logger: Logger
        /// What the bridge keeps; `nil`: no upstream is used.
        var bridge: BridgeParts?
        /// Finds and erases people; `nil`: the store does not.
        var people: (any PersonStore)?
        /// Of the public addresses.
        var origin = ""
        /// Carries scheduled sign-ins; `nil`: what OAuth providers are asked by.
        var testTransport: (any OutboundTransport)?
    }

    /// What it takes to use upstreams.
    struct BridgeParts: Sendable {
        var store: any BridgeStore
        var transport: any OutboundTransport
        /// This cluster's name on the way to another.
        var via = BridgeVia(origin: "")
    }

    /// What tokens that apps keep are made with (clients §3).
    struct StoredTokenParts: Sendable {
        var keys: SigningKeys
        var seals: StoredTokenSeals
    }

    /// What it takes to sign people in by OAuth.
    struct OAuthParts: Sendable {
        var keys: OAuthKeys
        /// The callback that records of before share.
        var sharedCallback: String
        var sharedRule = SharedCallbackRule.open
        var secretFolder = ClientSecretFolder(path: nil)
        var secretSeals: SecretSeals
        /// In place of files and store.
        var secrets: (any ClientSecrets)?
        var transport: any OutboundTransport
    }

    /// No session lives longer (mvpd §1.1), and some time for clocks.
    public static let longestSession: Duration = .seconds(31_536_000 + 86_400)

    /// To be called when a key of access tokens may have gone: bearers that were checked are checked again.
    public func accessTokenKeysChanged() { callers.bearers.forgetTokens() }

    /// To be called when a key of stored tokens may have gone.
    public func storedTokenKeysChanged() { sessions.stored.verifier.forget() }

    /// Takes in other keys for what seals handles of sessions and device ids; what was sealed opens still.
    /// - Throws: `CryptographyError`; nothing has changed then.
    public func adopt(storedTokenSeals keys: AuthenticationKeys.SecretKeys) throws {
        try sessions.stored.seals.adopt(keys.current, older: keys.older)
    }

    /// Takes in what the files of SAML keys, user ids and OAuth seals hold now, all of them.
    /// - Throws: `CryptographyError`; nothing has changed then.
    public func adopt(_ keys: AuthenticationKeys) throws {
        try keyFiles?.oauth.adopt(keys.oauthKey, older: keys.olderOAuthKeys)
        keyFiles?.serviceProvider.adopt(keys)
        keyFiles?.userIDs.adopt(current: keys.userID, older: [])
        signIns.signedMetadata.forget()
    }

    /// Takes in other keys for kept secrets, and seals these with the current one; the older keys are needed no more afterwards.
    /// - Throws: Faults of the store; what is not sealed anew opens with the older keys.
    public func adopt(secretKeys keys: AuthenticationKeys.SecretKeys) async throws {
        callers.secrets.seals.adopt(current: keys.current, older: keys.older)
        try await callers.secrets.resealAll()
    }

    /// Forgets clients that nobody uses any more, once an hour until it is cancelled; they register again (rest-v1 §3.1).
    /// - Parameters:
    ///   - days: For a client that has no session, profile or live code.
    ///   - idleDays: For one that never made any.
    ///   - isMine: Whether it is this copy's turn.
    public func forgetUnusedClients(after days: Int, idleAfter idleDays: Int, isMine: @Sendable () async -> Bool = { true }) async {
        while (try? await Task.sleep(for: .seconds(3600))) != nil {
            if await isMine() { await forgetClients(after: days, idleAfter: idleDays) }
        }
    }

    func forgetClients(after days: Int, idleAfter idleDays: Int) async {
        let now = clock.now()
        var forgotten = 0
        do throws(Fault) {
            while true {
                let count = try await store.forgetClients(
                    usedBefore: now - .seconds(86_400 * Int64(days)), idleBefore: now - .seconds(86_400 * Int64(idleDays)), now: now)
                forgotten += count
                if count == 0 { break }
            }
        } catch {
            logger.warning("clients.not_forgotten", metadata: ["reason": "\(error)"])
        }
        guard forgotten > 0 else { return }
        callers.bearers.forgetTokens()
        logger.info("clients.forgotten", metadata: ["clients": "\(forgotten)"])
    }

    /// Tells other copies of sign-ins that failed, twice a second until it is cancelled.
    /// - Parameter isMine: Whether it is this copy's turn to forget old ones.
    public func shareSignInReports(isMine: @Sendable () async -> Bool) async {
        var round = 0
        while (try? await Task.sleep(for: .milliseconds(500))) != nil {
            round = (round + 1) % 120
            let mustTrim = round == 0 ? await isMine() : false
            do throws(Fault) {
                try await signIns.reports.share(mustTrim: mustTrim)
            } catch {
                logger.debug("sign_in_reports.not_shared", metadata: ["reason": "\(error)"])
            }
        }
    }

    /// Tells upstreams of logouts that they have not heard of, and of logins that nobody confirmed, until it is cancelled.
    /// - Parameter isMine: Whether it is this copy's turn.
    public func tellUpstreams(isMine: @escaping @Sendable () async -> Bool) async {
        guard let bridge else { return }
        async let logouts: Void = bridge.logouts.workOff(isMine: isMine)
        async let logins: Void = bridge.signIns.resolve(isMine: isMine)
        _ = await (logouts, logins)
    }

    /// Notes households of sessions that a release before wrote; until it is cancelled.
    /// - Parameter isMine: Whether it is this copy's turn.
    public func markHouseholds(isMine: @Sendable () async -> Bool) async { await sessions.people.markHouseholds(isMine: isMine) }

    /// Signs test users in as the catalogue asks for it; until it is cancelled.
    public func tryScheduledSignIns() async { await signIns.scheduled.run() }

    /// Why this host's clock may be wrong, for operators; `nil`: nothing speaks for it.
    public var clockDoubt: String? { signIns.starter.metrics.clock?.doubt }

    /// Looks every 30 s whether the clock is doubtful still; until it is cancelled.
    public func watchClock() async {
        while (try? await Task.sleep(for: .seconds(30))) != nil { signIns.starter.metrics.clock?.look() }
    }

    /// Reads the key sets of OAuth providers again when they are due; until it is cancelled.
    public func keepProviderKeys() async {
        while (try? await Task.sleep(for: .seconds(15))) != nil { await signIns.keySets.refreshDue() }
    }
}

extension AuthenticationService {
    /// The service with its embedded store.
    /// - Parameters:
    ///   - settings: The `authentication` object of the settings file.
    ///   - keys: What the files named there hold.
    ///   - accessTokenKeys: Those of access tokens, which may change meanwhile.
    ///   - secretKeys: Those of secrets that administrators write.
    ///   - storedTokenKeys: Those of tokens that apps keep, which may change meanwhile.
    ///   - storedTokenSeals: Those of what is sealed in these tokens.
    ///   - serviceTokenKeys: Those of service tokens, which may change meanwhile.
    ///   - clientSecrets: Absolute path of the folder that the settings name.
    ///   - transport: Reaches OAuth providers; its owner shuts it down.
    ///   - upstreams: Reaches upstreams, whose lists are long; its owner shuts it down.
    ///   - database: The open store of this service.
    ///   - usage: Counts what happens, for reports.
    public convenience init(
        _ settings: AuthenticationSettings, keys: AuthenticationKeys, accessTokenKeys: SigningKeys,
        secretKeys: AuthenticationKeys.SecretKeys, storedTokenKeys: SigningKeys, storedTokenSeals: AuthenticationKeys.SecretKeys,
        serviceTokenKeys: ServiceTokenKeys, clientSecrets: String?, transport: any OutboundTransport, upstreams: any OutboundTransport,
        database: AuthenticationDatabase,
        catalogue: any CatalogueSource, usage: UsageCounter = UsageCounter(),
        clock: any WallClock, logger: Logger
    ) throws {
        let random = SystemRandom()
        let seals = try StoredTokenSeals(storedTokenSeals.current, older: storedTokenSeals.older)
        let identity = SamlServiceProvider.Identity(
            entityID: settings.spEntityID, assertionConsumerServiceURL: settings.acsURL, logoutServiceURL: settings.logoutURL,
            signingKey: keys.signing, otherSigningCertificate: keys.otherSigningCertificate, decryptionKey: keys.decryption,
            otherDecryptionKey: keys.otherDecryption,
            encryptionCertificate: keys.encryptionCertificate,
            metadataValidity: .seconds(Int64(settings.metadataValidity)))
        let saml = SamlServiceProvider(identity, random: random)
        let userIDs = SymmetricKeyRing(current: keys.userID)
        self.init(
            Parts(
                issuer: AccessTokenIssuer(
                    keys: accessTokenKeys, issuer: settings.spEntityID, audience: Self.audience,
                    lifetime: .seconds(Int64(settings.accessTokenTTL)), clock: clock),
                verifier: AccessTokenVerifier(keys: accessTokenKeys, issuer: settings.spEntityID, audience: Self.audience, clock: clock),
                saml: saml, logout: saml, logoutVisitAddress: settings.origin + "/adobe-services/logout?handle=",
                logoutReturnAddress: settings.origin + "/adobe-services/logout/oauth",
                oauth: OAuthParts(
                    keys: keys.oauth, sharedCallback: settings.oauthCallbackURL, sharedRule: settings.sharedCallback,
                    secretFolder: ClientSecretFolder(path: clientSecrets),
                    secretSeals: SecretSeals(current: secretKeys.current, older: secretKeys.older), transport: transport),
                storedTokens: StoredTokenParts(keys: storedTokenKeys, seals: seals), serviceTokenKeys: serviceTokenKeys, catalogue: catalogue,
                store: database.store, clock: clock,
                random: random, scrambler: UserIDScrambler(keys: userIDs), activationOrigins: Set(settings.activationOrigins),
                codeLimits: CodeLimits(perClient: settings.codesPerClient, perDevice: settings.codesPerDevice),
                usage: usage, clockDoubt: database.store.store.isDistributed ? nil : ClockDoubt(logger: logger), logger: logger,
                bridge: BridgeParts(store: database.store, transport: upstreams, via: BridgeVia(origin: settings.origin)), people: database.store,
                origin: TestOrigin.origin(settings.origin) ?? settings.origin),
            KeyFiles(serviceProvider: saml, userIDs: userIDs, oauth: keys.oauth))
    }

    /// What access tokens open: the API of this deployment.
    private static let audience = "boxoffice-api"
}
