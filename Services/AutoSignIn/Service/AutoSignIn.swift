public import Catalogue
public import Clocks
public import ContractRuntime
public import Contracts
internal import CoreMetrics
internal import Identifiers
public import Logging
internal import Memos
public import OutboundHttp

/// The whole service over its store.
public struct AutoSignIn: Sendable {
    public let automaticSignIn: AutomaticSignInService
    public let signInWithApple: SignInWithAppleService
    public let operations: AutoSignInOperationsService
    private let base: AutoSignInBase
    private let appleParts: AppleParts

    /// - Parameters:
    ///   - settings: The `autosignin` object of the settings file.
    ///   - keys: Out of the file that the settings name.
    ///   - secrets: Absolute path of the folder with developer teams' private keys.
    ///   - store: Open; copies of the service may share its rows.
    ///   - logins: The logins of the authentication service.
    ///   - transport: Reaches Apple; its owner shuts it down.
    public init(
        _ settings: AutoSignInSettings, keys: AutoSignInKeys, secrets: String, store: AutoSignInStore, logins: any Logins,
        catalogue: any CatalogueSource, transport: any OutboundTransport, clock: any WallClock, logger: Logger
    ) {
        self.init(
            AutoSignInParts(
                settings: settings, keys: keys, appleKeys: AppleKeyFolder(path: secrets), store: store, logins: logins, catalogue: catalogue,
                transport: transport, clock: clock, random: SystemRandom(), logger: logger))
    }

    init(_ parts: AutoSignInParts) {
        let identityServer = AppleIDClient(parts)
        base = AutoSignInBase(
            parts,
            appleCourier: AppleRevocationCourier(apple: identityServer, seal: parts.keys.seal(for: .appleTokens), catalogue: parts.catalogue))
        appleParts = AppleParts(base, identityServer)
        let apple = AppleOperations(parts: appleParts)
        automaticSignIn = AutomaticSignInService(base, apple: apple)
        signInWithApple = SignInWithAppleService(appleParts, apple)
        operations = AutoSignInOperationsService(base, apple: apple)
    }

    /// Makes the calls that are due at other parties; until it is cancelled.
    public func deliverOutbox() async { await base.outbox.run() }

    /// Replaces old values, and ends what nobody uses; until it is cancelled.
    public func keepHouse() async { await Housekeeping(base: base).run() }

    /// Asks Apple once a day whether people's sessions go on; until it is cancelled.
    public func checkAppleSessions() async { await appleSessionChecks.run() }

    /// One round of each, for tests.
    var appleSessionChecks: AppleSessionChecks { AppleSessionChecks(parts: appleParts) }
    var housekeeping: Housekeeping { Housekeeping(base: base) }
    var outbox: Outbox { base.outbox }
    var values: ValueSeal { base.values }
}

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

/// The parts of which the operations of this service are put together.
struct AutoSignInParts: Sendable {
    let settings: AutoSignInSettings
    let keys: AutoSignInKeys
    /// Private keys of developer teams.
    let appleKeys: AppleKeyFolder
    let store: AutoSignInStore
    let logins: any Logins
    let catalogue: any CatalogueSource
    let transport: any OutboundTransport
    let clock: any WallClock
    let random: any RandomSource
    let logger: Logger
    let metrics = AutoSignInMetrics()
}

/// The base that they share.
struct AutoSignInBase: Sendable {
    let parts: AutoSignInParts
    let callers: CallerCheck
    let idempotency: Idempotency
    let outbox: Outbox
    let events: SecurityLog
    let webSessions: WebSessions
    let values: ValueSeal

    /// - Parameter appleCourier: Takes the letters of kind `revoke`.
    init(_ parts: AutoSignInParts, appleCourier: any OutboxCourier) {
        self.parts = parts
        values = ValueSeal(parts.keys)
        callers = CallerCheck(logins: parts.logins, store: parts.store, clock: parts.clock)
        idempotency = Idempotency(store: parts.store, seal: parts.keys.seal(for: .answers), clock: parts.clock)
        events = SecurityLog(store: parts.store, metrics: parts.metrics, logger: parts.logger)
        webSessions = WebSessions(store: parts.store, clock: parts.clock, random: parts.random)
        let storeKit = StoreKitCourier(
            store: parts.store, catalogue: parts.catalogue, tokens: StoreKitTokens(keys: parts.appleKeys, clock: parts.clock), values: values,
            addresses: parts.settings.apple, transport: parts.transport, logger: parts.logger)
        outbox = Outbox(
            store: parts.store,
            couriers: [
                .update: storeKit, .delete: storeKit, .revoke: appleCourier, .endSessions: SessionCourier(logins: parts.logins),
            ], clock: parts.clock, random: parts.random, metrics: parts.metrics, logger: parts.logger)
    }
}

/// The service's metrics. Labels are bounded: kinds and results, never an id.
struct AutoSignInMetrics: Sendable {
    let issuedTokens = Counter(label: "boxoffice_autosignin_tokens_issued_total")
    private let refusedNotifications = Counter(label: "boxoffice_autosignin_notifications_refused_total")
    let rotations = Counter(label: "boxoffice_autosignin_rotations_total")

    let redeemed = redeems("signed_in")
    private let refusals = Memo<String, Counter>(capacity: 256)

    /// - Parameter result: The code of the refusal.
    func refused(_ result: String) {
        refusals.value(result) { Self.redeems(result) }.increment()
    }

    private static func redeems(_ result: String) -> Counter {
        Counter(label: "boxoffice_autosignin_redeems_total", dimensions: [("result", result)])
    }

    /// - Parameter reason: `opt_out`, `sign_out_everywhere`, `flagged`, `replay`, `idle`, `not_stored`, `account_closed`, `apple_link` or `other`.
    func revoked(_ reason: String) {
        Counter(label: "boxoffice_autosignin_families_revoked_total", dimensions: [("reason", reason)]).increment()
    }

    /// - Parameters:
    ///   - call: A kind of letter.
    ///   - result: `done`, `absent`, `postponed`, or `given_up`, which is an alarm.
    func delivered(_ call: String, _ result: String) {
        Counter(label: "boxoffice_autosignin_outbox_deliveries_total", dimensions: [("call", call), ("result", result)]).increment()
    }

    /// One that did not verify, or was for nobody's app.
    func refusedNotification() { refusedNotifications.increment() }

    /// - Parameter kind: The kind of the event, as in the store.
    func securityEvent(_ kind: String) {
        Counter(label: "boxoffice_autosignin_security_events_total", dimensions: [("kind", kind)]).increment()
    }
}
