internal import Clocks
internal import Hummingbird
internal import Logging

/// A REST v2 server of a stand-in vendor (bridge §15.4), written from rest-v2 alone: it shares nothing with the cluster's own v2, nor with the bridge.
struct UpstreamStandIn: Sendable {
    /// The id of the software statement that is there from the start, for all service providers.
    static let statement = "acme-v2"
    /// The one of the back office that may reset free trials.
    static let managementStatement = "acme-v2-management"

    private let settings: UpstreamSettings
    private let memory: UpstreamMemory
    let clock: AdjustableClock
    private let pages: Pages
    private let log: UpstreamLog
    private let faults = UpstreamFaults()
    private let key: SigningKey
    private let issuer: StatementIssuer
    private let making: ProfileMaking

    /// - Parameters:
    ///   - people: Who can sign in.
    ///   - channels: All channels that exist.
    /// - Throws: `SettingsFault` for a key or certificate that cannot be used.
    init(
        _ settings: UpstreamSettings, people: [Person], channels: [String], clock: any WallClock, pages: Pages, logger: Logger
    ) throws(SettingsFault) {
        self.settings = settings
        self.clock = AdjustableClock(clock)
        self.pages = pages
        log = UpstreamLog(logger: logger)
        key = try KeyFile.signingKey(settings.key, key: "upstream.key")
        let certificate = try KeyFile.certificate(settings.certificate, key: "upstream.certificate")
        guard key.matches(certificate) else { throw SettingsFault(key: "upstream.key", problem: "does not belong to the certificate") }
        issuer = StatementIssuer(key: key, certificate: certificate)
        making = ProfileMaking(people: people, channels: channels, key: key)
        var state = UpstreamState()
        state.behaviour.throttle.isOn = settings.throttles
        do {
            try state.registry.set(issuer.statement(Self.statement, serviceProviders: ["*"], scopes: [SoftwareStatement.apiScope]))
            try state.registry.set(
                issuer.statement(Self.managementStatement, serviceProviders: ["*"], scopes: [SoftwareStatement.resetScope]))
        } catch {
            throw SettingsFault(key: "upstream.key", problem: "cannot sign: \(error)")
        }
        memory = UpstreamMemory(state)
    }

    func add(to router: Router<SandboxContext>) {
        router.get("/healthz") { _, _ in "ok" }
        router.get("/assets/{file}") { _, context in try pages.asset(try context.parameters.require("file")) }
        UpstreamControlRoutes(memory: memory, faults: faults, log: log, clock: clock, issuer: issuer, making: making).add(to: router)
    }

    /// Takes the calls of the API before the router looks for routes.
    var gate: UpstreamGate {
        UpstreamGate(
            endpoints: UpstreamEndpoints(
                memory: memory, registration: RegistrationEndpoint(memory: memory, issuer: issuer),
                accessTokens: AccessTokenEndpoint(memory: memory, key: key), making: making,
                browser: BrowserEndpoint(memory: memory, making: making, seal: Seal(key: key), pages: pages),
                decisions: UpstreamDecisionEndpoint(memory: memory, making: making, tokens: UpstreamMediaTokens(key: key)),
                logouts: LogoutEndpoint(memory: memory, publicURL: settings.publicURL)), memory: memory, faults: faults, log: log, clock: clock)
    }
}
