public import Clocks
internal import EventLoops
public import Hummingbird
public import Logging
internal import HummingbirdCore
internal import NIOSSL

/// The stand-in MVPD: identity providers and decision points of several pay-TV providers in one process (mvpd §5).
public struct Sandbox: Sendable {
    private let settings: SandboxSettings
    private let providers: [IdentityProvider]
    private let oauth: [String: OAuthProvider]
    private let staff: StaffProvider?
    private let log: RequestLog
    private let platform: PlatformRoutes?
    private let apple: AppleStandIn?
    private let upstream: UpstreamStandIn?
    private let pages: Pages
    private let clock: AdjustableClock
    private let logger: Logger
    /// Of the address of the MVPDs, beside plain HTTP.
    private let tls: ServedCertificate?

    /// Loads keys and pages.
    /// - Throws: `SettingsFault` that names the setting that cannot be used.
    public init(
        settings: SandboxSettings, clock: any WallClock = SystemClock(), logger: Logger
    ) async throws {
        self.settings = settings
        self.clock = AdjustableClock(clock)
        self.logger = logger
        tls = try settings.tls.map { tls throws(SettingsFault) in try ServedCertificate(tls) }
        pages = try await Pages(folder: settings.pages)
        let serviceProvider = try ServiceProvider(settings.serviceProvider)
        providers = try settings.mvpds.enumerated().map { index, mvpd throws(SettingsFault) in
            try IdentityProvider(mvpd, index: index, settings: settings, serviceProvider: serviceProvider)
        }
        var oauth: [String: OAuthProvider] = [:]
        for (index, mvpd) in settings.mvpds.enumerated() {
            if let entry = mvpd.oauth { oauth[mvpd.id] = try OAuthProvider(providers[index], entry, index: index) }
        }
        self.oauth = oauth
        staff = try settings.staff.map { staff throws(SettingsFault) in try StaffProvider(staff, publicURL: settings.publicURL) }
        let log = RequestLog(logger: logger)
        self.log = log
        apple = try settings.apple.map { [pages] settings throws(SettingsFault) in
            try AppleStandIn(settings, clock: clock, pages: pages, logger: logger)
        }
        upstream = try settings.upstream.map { [pages] upstream throws(SettingsFault) in
            try UpstreamStandIn(upstream, people: settings.people, channels: settings.channels, clock: clock, pages: pages, logger: logger)
        }
        platform = try settings.apple.map { [providers, clock = self.clock] apple throws(SettingsFault) in
            let byID = Dictionary(uniqueKeysWithValues: providers.map { ($0.id, $0) })
            return PlatformRoutes(
                framework: PlatformFramework(providers: apple.providers.compactMapValues { byID[$0] }, all: providers),
                tokens: IdentityTokens(
                    issuer: apple.identityIssuer, key: try KeyFile.signingKey(apple.identityKey, key: "apple.identityKey")),
                accounts: PlatformAccounts(), clock: clock, log: log)
        }
    }

    /// The stand-in upstream on its own address; nil when the settings have none.
    public func upstreamApplication(onServerRunning: @escaping @Sendable (Int) async -> Void = { _ in }) -> (any ApplicationProtocol)? {
        guard let upstream, let listener = settings.upstream?.listen else { return nil }
        let router = Router(context: SandboxContext.self)
            .add(middleware: PrivateNetworkTrust(trustsPrivateNetworks: settings.trustsPrivateNetworks))
            .add(middleware: upstream.gate)
        upstream.add(to: router)
        return application(router, on: listener, tls: tls, date: upstream.clock, onServerRunning)
    }

    /// The HTTP application on the address of the settings.
    /// - Parameter onServerRunning: Called with the port once the address is bound.
    public func application(onServerRunning: @escaping @Sendable (Int) async -> Void = { _ in }) -> some ApplicationProtocol {
        application(router(), on: settings.listen, tls: tls, onServerRunning)
    }

    /// The stand-in Apple on its own address; nil when the settings have none.
    public func appleApplication(onServerRunning: @escaping @Sendable (Int) async -> Void = { _ in }) -> (any ApplicationProtocol)? {
        guard let platform, let apple, let listener = settings.apple?.listen else { return nil }
        let router = Router(context: SandboxContext.self)
            .add(middleware: PrivateNetworkTrust(trustsPrivateNetworks: settings.trustsPrivateNetworks))
        router.get("/healthz") { _, _ in "ok" }
        platform.add(to: router)
        apple.add(to: router)
        return application(router, on: listener, onServerRunning)
    }

    private func application(
        _ router: Router<SandboxContext>, on listener: SandboxSettings.Listener, tls: ServedCertificate? = nil, date: AdjustableClock? = nil,
        _ onServerRunning: @escaping @Sendable (Int) async -> Void
    ) -> some ApplicationProtocol {
        // The web framework's own lines at level info are sentences, not events.
        var quiet = logger
        quiet.logLevel = max(logger.logLevel, .notice)
        let configuration = HTTP1Channel.Configuration(
            additionalChannelHandlers: [OneProtocol()] + (date.map { [DateHeader(clock: $0)] } ?? []))
        return Application(
            router: router,
            server: HTTPServerBuilder { responder in
                guard let tls else { return HTTP1Channel(responder: responder, configuration: configuration) }
                return EitherChannel(responder: responder, configuration: configuration, tls: tls)
            },
            configuration: ApplicationConfiguration(address: .hostname(listener.address, port: listener.port)),
            onServerRunning: { channel in await onServerRunning(channel.localAddress?.port ?? 0) },
            logger: quiet
        )
    }

    private func router() -> Router<SandboxContext> {
        let router = Router(context: SandboxContext.self)
            .add(middleware: PrivateNetworkTrust(trustsPrivateNetworks: settings.trustsPrivateNetworks))
        let disturbances = Disturbances()
        let byID = Dictionary(uniqueKeysWithValues: providers.map { ($0.id, $0) })
        router.get("/healthz") { _, _ in "ok" }
        router.get("/") { _, _ in index() }
        router.get("/assets/{file}") { _, context in try pages.asset(try context.parameters.require("file")) }
        let evil = EvilMode()
        let homes = HomeNetworks(
            Dictionary(uniqueKeysWithValues: settings.mvpds.compactMap { mvpd in mvpd.home.map { (mvpd.id, $0) } }))
        SignInRoutes(providers: byID, clock: clock, log: log, pages: pages, homes: homes, evil: evil).add(to: router)
        LogoutRoutes(providers: byID, clock: clock, log: log, pages: pages).add(to: router)
        DecisionRoutes(
            providers: byID, clock: clock, log: log, disturbances: disturbances, serviceURL: settings.serviceURL,
            oauth: oauth
        ).add(to: router)
        ControlRoutes(mvpds: Set(byID.keys), clock: clock, log: log, disturbances: disturbances, homes: homes, evil: evil, oauth: oauth).add(
            to: router)
        OAuthBrowserRoutes(providers: oauth, clock: clock, log: log, pages: pages, homes: homes).add(to: router)
        OAuthRoutes(providers: oauth, clock: clock, log: log).add(to: router)
        if let staff { StaffRoutes(provider: staff, clock: clock, log: log, pages: pages).add(to: router) }
        OAuthControlRoutes(providers: oauth).add(to: router)
        return router
    }

    private func index() -> Response {
        let mvpds = providers.map { provider in
            ["id": provider.id, "name": provider.settings.displayName, "entityID": provider.settings.entityID]
        }
        return pages.html(
            "index", ["mvpds": mvpds, "people": providers[0].subscribers.listing, "serviceProvider": settings.serviceProvider.entityID])
    }
}
