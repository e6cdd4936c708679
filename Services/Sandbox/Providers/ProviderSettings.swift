package import Clocks
package import Hummingbird
package import SandboxKit

/// The settings of the MVPDs, their people and the administrators' identity provider.
package struct ProviderSettings: Sendable, Equatable {
    /// The base of all addresses in messages, without a slash at the end.
    package var publicURL: String
    /// The base of the addresses that services call themselves, where these reach the stand-in by another name than browsers do. A signed query names
    /// it as its destination. Without a slash at the end.
    package var serviceURL: String
    package var serviceProvider: ServiceProviderSettings
    package var mvpds: [MvpdSettings]
    /// Every channel that exists here; a person with all channels has these.
    package var channels: [String]
    package var people: [Person]
    /// Prefix, 4 to 64 characters, of subject ids that count as a subscriber with all channels. A load tool that signs as an MVPD invents people.
    /// nil: there are no such ids.
    package var visitorPrefix: String?
    /// nil: there is no identity provider for administrators.
    package var staff: StaffSettings?

    package init(
        publicURL: String, serviceURL: String, serviceProvider: ServiceProviderSettings, mvpds: [MvpdSettings], channels: [String], people: [Person],
        visitorPrefix: String?, staff: StaffSettings?
    ) {
        self.publicURL = publicURL
        self.serviceURL = serviceURL
        self.serviceProvider = serviceProvider
        self.mvpds = mvpds
        self.channels = channels
        self.people = people
        self.visitorPrefix = visitorPrefix
        self.staff = staff
    }

    /// - Throws: `SettingsFault` for values that do not fit together.
    package func check() throws(SettingsFault) {
        if mvpds.isEmpty { throw SettingsFault(key: "mvpds", problem: "names no MVPD") }
        for (index, mvpd) in mvpds.enumerated() {
            guard !mvpd.id.isEmpty, mvpd.id.utf8.count <= 128, mvpd.id.utf8.allSatisfy(Self.isPlain) else {
                throw SettingsFault(key: "mvpds[\(index)].id", problem: "has characters other than letters, digits, - and _")
            }
            if mvpds[..<index].contains(where: { $0.id == mvpd.id }) { throw SettingsFault(key: "mvpds[\(index)].id", problem: "is used twice") }
            if mvpd.encryptAssertion, serviceProvider.encryptionCertificate == nil {
                throw SettingsFault(key: "serviceProvider.encryptionCertificate", problem: "is missing, and \(mvpd.id) encrypts")
            }
        }
        for (index, person) in people.enumerated() { try check(person, at: index) }
    }

    private func check(_ person: Person, at index: Int) throws(SettingsFault) {
        if people[..<index].contains(where: { $0.name == person.name }) {
            throw SettingsFault(key: "people[\(index)].name", problem: "is used twice")
        }
        if let rating = person.maximumTelevisionRating, Rating.television.rank(rating) == nil {
            throw SettingsFault(key: "people[\(index)].maxVCHIP", problem: "is not a V-Chip rating")
        }
        if let rating = person.maximumFilmRating, Rating.film.rank(rating) == nil {
            throw SettingsFault(key: "people[\(index)].maxMPAA", problem: "is not an MPAA rating")
        }
    }

    private static func isPlain(_ octet: UInt8) -> Bool {
        switch octet {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
        default: octet == UInt8(ascii: "-") || octet == UInt8(ascii: "_")
        }
    }
}

/// The service provider that may send requests.
package struct ServiceProviderSettings: Sendable, Equatable {
    /// The base entity id; issuers `…/on-behalf-of/{requestor}` belong to it too (mvpd §2.2).
    package var entityID: String
    /// File with the certificate that verifies requests.
    package var signingCertificate: String
    /// File with the certificate to encrypt assertions to; needed when an MVPD encrypts.
    package var encryptionCertificate: String?
    package var acsURL: String
    /// Logout messages go here.
    package var logoutURL: String

    /// As the settings file has it.
    package struct Entry: Decodable {
        let entityID: String
        let signingCertificate: String
        let encryptionCertificate: String?
        let acsURL: String
        let logoutURL: String?
    }

    package init(_ entry: Entry, resolve: (String) -> String) {
        entityID = entry.entityID
        signingCertificate = resolve(entry.signingCertificate)
        encryptionCertificate = entry.encryptionCertificate.map(resolve)
        acsURL = entry.acsURL
        logoutURL = entry.logoutURL ?? Self.logoutURL(beside: entry.acsURL)
    }

    /// At the same server as the assertion consumer, under the path that service providers have (mvpd §2.1).
    private static func logoutURL(beside acsURL: String) -> String {
        let parts = acsURL.split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false)
        return parts.prefix(3).joined(separator: "/") + "/sp/saml/LogoutServiceHTTPRedirectResponse"
    }
}

/// One identity provider with its decision point.
package struct MvpdSettings: Sendable, Equatable {
    package var id: String
    package var displayName: String
    package var entityID: String
    /// File with the certificate that the service provider pins.
    package var certificate: String
    /// File with the private key to it.
    package var key: String
    package var signAssertion: Bool
    package var signResponse: Bool
    package var encryptAssertion: Bool
    /// True when a request must carry a valid signature of the service provider.
    package var validateRequests: Bool
    /// Addresses of home networks that need no login, and the person of each; nil: none.
    var home: HomeNetworks.Home?
    /// Set for an OAuth 2.0 and OpenID provider.
    package var oauth: OAuthSettings?

    /// As the settings file has it.
    package struct Entry: Decodable {
        struct Home: Decodable {
            let addresses: [String]
            let person: String
        }

        let id: String
        let displayName: String?
        let entityID: String?
        let certificate: String
        let key: String
        let signAssertion: Bool?
        let signResponse: Bool?
        let encryptAssertion: Bool?
        let validateRequests: Bool?
        let home: Home?
        let oauth: OAuthSettings.Entry?
    }

    package init(_ entry: Entry, publicURL: String, resolve: (String) -> String) {
        id = entry.id
        displayName = entry.displayName ?? entry.id
        entityID = entry.entityID ?? "\(publicURL)/saml/\(entry.id)/metadata"
        certificate = resolve(entry.certificate)
        key = resolve(entry.key)
        signAssertion = entry.signAssertion ?? true
        signResponse = entry.signResponse ?? false
        encryptAssertion = entry.encryptAssertion ?? false
        validateRequests = entry.validateRequests ?? true
        home = entry.home.map { HomeNetworks.Home(addresses: Set($0.addresses), person: $0.person) }
        oauth = entry.oauth.map { OAuthSettings($0, mvpd: entry.id, publicURL: publicURL, resolve: resolve) }
    }
}

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
