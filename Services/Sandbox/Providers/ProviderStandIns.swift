package import Clocks
package import Hummingbird
package import SandboxKit

/// The stand-in MVPDs: identity providers and decision points of several pay-TV providers (mvpd §5), and the administrators' identity provider.
package struct ProviderStandIns: Sendable {
    private let settings: ProviderSettings
    private let providers: [IdentityProvider]
    private let oauth: [String: OAuthProvider]
    private let staff: StaffProvider?
    private let clock: AdjustableClock
    private let pages: Pages
    private let log: RequestLog

    /// Loads keys.
    /// - Throws: `SettingsFault` that names the setting that cannot be used.
    package init(_ settings: ProviderSettings, clock: AdjustableClock, pages: Pages, log: RequestLog) throws(SettingsFault) {
        self.settings = settings
        self.clock = clock
        self.pages = pages
        self.log = log
        let serviceProvider = try ServiceProvider(settings.serviceProvider)
        var providers: [IdentityProvider] = []
        for (index, mvpd) in settings.mvpds.enumerated() {
            providers.append(try IdentityProvider(mvpd, index: index, settings: settings, serviceProvider: serviceProvider))
        }
        self.providers = providers
        var oauth: [String: OAuthProvider] = [:]
        for (index, mvpd) in settings.mvpds.enumerated() {
            if let entry = mvpd.oauth { oauth[mvpd.id] = try OAuthProvider(providers[index], entry, index: index) }
        }
        self.oauth = oauth
        staff = try settings.staff.map { staff throws(SettingsFault) in try StaffProvider(staff, publicURL: settings.publicURL) }
    }

    /// Adds the routes of the address of the MVPDs.
    package func add(to router: Router<SandboxContext>) {
        let disturbances = Disturbances()
        let byID = self.byID
        router.get("/") { _, _ in index() }
        router.get("/assets/{file}") { _, context in try pages.asset(try context.parameters.require("file")) }
        let evil = EvilMode()
        let homes = HomeNetworks(Dictionary(uniqueKeysWithValues: settings.mvpds.compactMap { mvpd in mvpd.home.map { (mvpd.id, $0) } }))
        SignInRoutes(providers: byID, clock: clock, log: log, pages: pages, homes: homes, evil: evil).add(to: router)
        LogoutRoutes(providers: byID, clock: clock, log: log, pages: pages).add(to: router)
        DecisionRoutes(providers: byID, clock: clock, log: log, disturbances: disturbances, serviceURL: settings.serviceURL, oauth: oauth).add(
            to: router)
        ControlRoutes(mvpds: Set(byID.keys), clock: clock, log: log, disturbances: disturbances, homes: homes, evil: evil, oauth: oauth).add(
            to: router)
        OAuthBrowserRoutes(providers: oauth, clock: clock, log: log, pages: pages, homes: homes).add(to: router)
        OAuthRoutes(providers: oauth, clock: clock, log: log).add(to: router)
        if let staff { StaffRoutes(provider: staff, clock: clock, log: log, pages: pages).add(to: router) }
        OAuthControlRoutes(providers: oauth).add(to: router)
    }

    /// Apple's framework of TV providers, with these MVPDs behind it.
    /// - Parameters:
    ///   - names: The MVPDs that sign people in by the platform, by the platform's names.
    ///   - identityIssuer: `iss` of the platform's identity tokens.
    ///   - identityKey: File with the RSA key that signs them.
    ///   - clock: The platform's own clock.
    /// - Throws: `SettingsFault` for a key that cannot be used.
    package func platform(
        names: [String: String], identityIssuer: String, identityKey: String, clock: any WallClock
    ) throws(SettingsFault) -> PlatformRoutes {
        PlatformRoutes(
            framework: PlatformFramework(providers: names.compactMapValues { byID[$0] }, all: providers),
            tokens: IdentityTokens(issuer: identityIssuer, key: try KeyFile.signingKey(identityKey, key: "apple.identityKey")),
            accounts: PlatformAccounts(), clock: clock, log: log)
    }

    private var byID: [String: IdentityProvider] { Dictionary(uniqueKeysWithValues: providers.map { ($0.id, $0) }) }

    private func index() -> Response {
        let mvpds = providers.map { provider in
            ["id": provider.id, "name": provider.settings.displayName, "entityID": provider.settings.entityID]
        }
        return pages.html(
            "index", ["mvpds": mvpds, "people": providers[0].subscribers.listing, "serviceProvider": settings.serviceProvider.entityID])
    }
}
