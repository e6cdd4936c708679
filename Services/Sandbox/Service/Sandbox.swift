package import Clocks
internal import EventLoops
package import Hummingbird
internal import HummingbirdCore
package import Logging
internal import NIOSSL
internal import SandboxApple
internal import SandboxKit
internal import SandboxProviders
internal import SandboxVendor

/// The stand-ins in one process: the MVPDs (mvpd §5), and on addresses of their own Apple and a vendor's v2 server.
package struct Sandbox: Sendable {
    private let settings: SandboxSettings
    private let providers: ProviderStandIns
    private let platform: PlatformRoutes?
    private let apple: AppleStandIn?
    private let vendor: VendorStandIn?
    private let logger: Logger
    /// Of the address of the MVPDs, beside plain HTTP.
    private let tls: ServedCertificate?

    /// Loads keys and pages.
    /// - Throws: `SettingsFault` that names the setting that cannot be used.
    package init(settings: SandboxSettings, clock: any WallClock = SystemClock(), logger: Logger) async throws {
        self.settings = settings
        self.logger = logger
        tls = try settings.tls.map { tls throws(SettingsFault) in try ServedCertificate(tls) }
        let pages = try await Pages(folder: settings.pages)
        let ownClock = AdjustableClock(clock)
        let providers = try ProviderStandIns(settings.providers, clock: ownClock, pages: pages, log: RequestLog(logger: logger))
        self.providers = providers
        apple = try settings.apple.map { settings throws(SettingsFault) in
            try AppleStandIn(settings, clock: clock, pages: pages, logger: logger)
        }
        vendor = try settings.vendor.map { vendor throws(SettingsFault) in
            try VendorStandIn(
                vendor, people: settings.providers.people, channels: settings.providers.channels, clock: clock, pages: pages, logger: logger)
        }
        platform = try settings.apple.map { apple throws(SettingsFault) in
            try providers.platform(
                names: apple.providers, identityIssuer: apple.identityIssuer, identityKey: apple.identityKey, clock: ownClock)
        }
    }

    /// The stand-in vendor on its own address; nil when the settings have none.
    package func vendorApplication(onServerRunning: @escaping @Sendable (Int) async -> Void = { _ in }) -> (any ApplicationProtocol)? {
        guard let vendor, let listener = settings.vendor?.listen else { return nil }
        let router = Router(context: SandboxContext.self)
            .add(middleware: PrivateNetworkTrust(trustsPrivateNetworks: settings.trustsPrivateNetworks))
        vendor.add(to: router)
        return application(router, on: listener, tls: tls, date: vendor.clock, onServerRunning)
    }

    /// The HTTP application on the address of the settings.
    /// - Parameter onServerRunning: Called with the port once the address is bound.
    package func application(onServerRunning: @escaping @Sendable (Int) async -> Void = { _ in }) -> some ApplicationProtocol {
        application(router(), on: settings.listen, tls: tls, onServerRunning)
    }

    /// The stand-in Apple on its own address; nil when the settings have none.
    package func appleApplication(onServerRunning: @escaping @Sendable (Int) async -> Void = { _ in }) -> (any ApplicationProtocol)? {
        guard let platform, let apple, let listener = settings.apple?.listen else { return nil }
        let router = Router(context: SandboxContext.self)
            .add(middleware: PrivateNetworkTrust(trustsPrivateNetworks: settings.trustsPrivateNetworks))
        router.get("/healthz") { _, _ in "ok" }
        platform.add(to: router)
        apple.add(to: router)
        return application(router, on: listener, onServerRunning)
    }

    private func application(
        _ router: Router<SandboxContext>, on listener: ListenerSettings, tls: ServedCertificate? = nil, date: AdjustableClock? = nil,
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
        router.get("/healthz") { _, _ in "ok" }
        providers.add(to: router)
        return router
    }
}
