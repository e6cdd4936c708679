package import Clocks
package import Hummingbird
package import Logging
package import SandboxKit

/// A REST v2 server of a stand-in vendor (bridge §15.4), written from rest-v2 alone. It shares nothing with the cluster's own v2, nor with the
/// bridge.
package struct VendorStandIn: Sendable {
    /// The id of the software statement that is there from the start, for all service providers.
    static let statement = "acme-v2"
    /// The one of the back office that may reset free trials.
    static let managementStatement = "acme-v2-management"

    private let settings: VendorSettings
    private let memory: VendorMemory
    package let clock: AdjustableClock
    private let pages: Pages
    private let log: VendorLog
    private let faults = VendorFaults()
    private let key: SandboxSigningKey
    private let issuer: StatementIssuer
    private let making: ProfileMaking

    /// - Parameters:
    ///   - people: The people who can sign in.
    ///   - channels: All channels that exist.
    /// - Throws: `SettingsFault` for a key or certificate that cannot be used.
    package init(
        _ settings: VendorSettings, people: [Person], channels: [String], clock: any WallClock, pages: Pages, logger: Logger
    ) throws(SettingsFault) {
        self.settings = settings
        self.clock = AdjustableClock(clock)
        self.pages = pages
        log = VendorLog(logger: logger)
        key = try KeyFile.signingKey(settings.key, key: "upstream.key")
        let certificate = try KeyFile.certificate(settings.certificate, key: "upstream.certificate")
        guard key.matches(certificate) else { throw SettingsFault(key: "upstream.key", problem: "does not belong to the certificate") }
        issuer = StatementIssuer(key: key, certificate: certificate)
        making = ProfileMaking(people: people, channels: channels, key: key)
        var state = VendorState()
        state.behaviour.throttle.isOn = settings.throttles
        do {
            try state.registry.set(issuer.statement(Self.statement, serviceProviders: ["*"], scopes: [SoftwareStatement.apiScope]))
            try state.registry.set(
                issuer.statement(Self.managementStatement, serviceProviders: ["*"], scopes: [SoftwareStatement.resetScope]))
        } catch {
            throw SettingsFault(key: "upstream.key", problem: "cannot sign: \(error)")
        }
        memory = VendorMemory(state)
    }

    package func add(to router: Router<SandboxContext>) {
        router.add(middleware: gate)
        router.get("/healthz") { _, _ in "ok" }
        router.get("/assets/{file}") { _, context in try pages.asset(try context.parameters.require("file")) }
        VendorControlRoutes(memory: memory, faults: faults, log: log, clock: clock, issuer: issuer, making: making).add(to: router)
    }

    /// Takes the calls of the API before the router looks for routes.
    private var gate: VendorGate {
        VendorGate(
            endpoints: VendorEndpoints(
                memory: memory, registration: RegistrationEndpoint(memory: memory, issuer: issuer),
                accessTokens: AccessTokenEndpoint(memory: memory, key: key), making: making,
                browser: BrowserEndpoint(memory: memory, making: making, seal: Seal(key: key), pages: pages),
                decisions: VendorDecisionEndpoint(memory: memory, making: making, tokens: VendorMediaTokens(key: key)),
                logouts: LogoutEndpoint(memory: memory, publicURL: settings.publicURL)), memory: memory, faults: faults, log: log, clock: clock)
    }
}

/// The stand-in vendor in the settings.
package struct VendorSettings: Sendable, Equatable {
    package var listen: ListenerSettings
    /// Base of the addresses that browsers open, without a slash at the end.
    package var publicURL: String
    /// File with the certificate by which media tokens and statements are verified.
    package var certificate: String
    /// File with the key to it.
    package var key: String
    /// True when calls are throttled from the start: 1 a second and 10 more for each address (rest-v2 §1.4).
    package var throttles: Bool
    /// A second address, by HTTPS alone; `nil`: there is none.
    package var secure: Secure?

    /// HTTPS by HTTP/2 and HTTP/1.1, as the client chooses (RFC 7301).
    package struct Secure: Sendable, Equatable {
        package var listen: ListenerSettings
        /// Files, PEM.
        package var certificate: String
        package var key: String
        /// File with the authorities of clients, PEM: a client without a certificate of theirs is refused. `nil`: nobody needs one.
        package var clientAuthorities: String?

        /// As the settings file has it.
        package struct Entry: Decodable {
            let listen: ListenerSettings
            let certificate: String
            let key: String
            let clientAuthorities: String?
        }
    }

    /// As the settings file has it.
    package struct Entry: Decodable {
        let listen: ListenerSettings
        let publicURL: String?
        let certificate: String
        let key: String
        let throttles: Bool?
        let secure: Secure.Entry?
    }

    package init(_ entry: Entry, resolve: (String) -> String) throws(SettingsFault) {
        listen = try entry.listen.checked("upstream.listen")
        publicURL = entry.publicURL ?? "http://\(listen.address):\(listen.port)"
        if publicURL.hasSuffix("/") { throw SettingsFault(key: "upstream.publicURL", problem: "ends with a slash") }
        certificate = resolve(entry.certificate)
        key = resolve(entry.key)
        throttles = entry.throttles ?? false
        secure = try entry.secure.map { secure throws(SettingsFault) in
            Secure(
                listen: try secure.listen.checked("upstream.secure.listen"), certificate: resolve(secure.certificate), key: resolve(secure.key),
                clientAuthorities: secure.clientAuthorities.map(resolve))
        }
    }
}
