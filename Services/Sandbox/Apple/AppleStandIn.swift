package import Clocks
package import Hummingbird
package import Logging
package import SandboxKit

/// The stand-in for Apple's servers and for the devices of Apple Accounts (apple §3).
package struct AppleStandIn: Sendable {
    private let memory: AppleMemory
    private let clock: AdjustableClock
    private let faults = AppleFaults()
    private let log: AppleLog
    private let pages: Pages

    /// - Throws: `SettingsFault` for a key that cannot be read, or groups that do not fit together.
    package init(_ settings: AppleSettings, clock: any WallClock, pages: Pages, logger: Logger) throws(SettingsFault) {
        memory = try AppleMemory(directory: try AppleDirectory(settings.teams), seed: settings.seed)
        self.clock = AdjustableClock(clock)
        self.pages = pages
        log = AppleLog(logger: logger)
    }

    package func add(to router: Router<SandboxContext>) {
        let local = router.group().add(middleware: LoopbackOnly())
        router.get("/_health") { _, _ in "ok" }
        router.get("/assets/{file}") { _, context in try pages.asset(try context.parameters.require("file")) }
        let gate = AppleGate(faults: faults, log: log, memory: memory, clock: clock)
        addIdentity(to: local.group("/appleid/auth"), gate)
        for (prefix, store) in [("/storekit", AppleStore.production), ("/storekit-sandbox", .sandbox)] {
            addStoreKit(to: local.group("\(prefix)/account/v1/autoSignIn"), StoreKitEndpoint(memory: memory, store: store), gate)
        }
        addDevices(to: local.group("/_device"), gate)
        AppleControlRoutes(memory: memory, clock: clock, faults: faults, log: log).add(to: local.group("/_control"))
    }

    private func addIdentity(to router: RouterGroup<SandboxContext>, _ gate: AppleGate) {
        let keys = KeysEndpoint(memory: memory)
        let authorize = AuthorizeEndpoint(memory: memory, pages: pages)
        let tokens = TokenEndpoint(memory: memory)
        router.get("/keys") { try await gate.pass(.keys, $0, $1, keys.answer) }
        router.get("/authorize") { try await gate.pass(.authorize, $0, $1, authorize.page) }
        router.post("/authorize/consent") { try await gate.pass(.authorize, $0, $1, authorize.consent) }
        router.post("/token") { try await gate.pass(.token, $0, $1, tokens.token) }
        router.post("/revoke") { try await gate.pass(.revoke, $0, $1, tokens.revoke) }
        router.post("/usermigrationinfo") { try await gate.pass(.usermigrationinfo, $0, $1, tokens.migrationInfo) }
    }

    private func addStoreKit(to router: RouterGroup<SandboxContext>, _ endpoint: StoreKitEndpoint, _ gate: AppleGate) {
        router.post("/update") { try await gate.pass(.update, $0, $1, endpoint.update) }
        router.post("/delete") { try await gate.pass(.delete, $0, $1, endpoint.delete) }
    }

    private func addDevices(to router: RouterGroup<SandboxContext>, _ gate: AppleGate) {
        let tokens = DeviceTokenEndpoint(memory: memory)
        let signIn = NativeSignInEndpoint(memory: memory)
        router.put("/devices/{device}") { request, context in
            let octets = Array(buffer: try await request.body.collect(upTo: 64 * 1024))
            let name = try context.parameters.require("device")
            do throws(SettingsFault) {
                let device = try SimulatedDevice(json: octets)
                memory.access { $0.tokens.devices[name] = device }
            } catch {
                throw HTTPError(.badRequest, message: "\(error)")
            }
            return HTTPResponse.Status.noContent
        }
        let app = router.group("/accounts/{account}/apps/{bundleID}")
        app.get("/token") { try await gate.pass(.device, $0, $1, tokens.read) }
        app.post("/token/authorize") { try await gate.pass(.device, $0, $1, tokens.authorize) }
        app.post("/token/update") { try await gate.pass(.device, $0, $1, tokens.update) }
        app.post("/token/delete") { try await gate.pass(.device, $0, $1, tokens.delete) }
        app.post("/signin") { try await gate.pass(.device, $0, $1, signIn.signIn) }
        app.get("/credential-state") { try await gate.pass(.device, $0, $1, signIn.credentialState) }
    }
}

/// The stand-in Apple in the settings.
package struct AppleSettings: Sendable, Equatable {
    package var listen: ListenerSettings
    /// `iss` of the identity tokens that it gives out.
    package var identityIssuer: String
    /// File with the RSA key that signs them.
    package var identityKey: String
    /// The MVPDs with platform single sign-on, by the platform's own names.
    package var providers: [String: String]
    /// The teams that may call Apple's servers.
    package var teams: [AppleTeamSettings] = []
    /// Repeats ids, codes and keys; nil: nothing repeats.
    package var seed: String?

    /// As the settings file has it.
    package struct Entry: Decodable {
        struct Provider: Decodable {
            let id: String
            let mvpd: String
        }

        let listen: ListenerSettings
        let identityIssuer: String
        let identityKey: String
        let providers: [Provider]
        let teams: [AppleTeamSettings.Entry]?
        let seed: String?
    }

    /// - Parameter mvpds: The ids of all MVPDs.
    package init(_ entry: Entry, mvpds: [String], resolve: (String) -> String) throws(SettingsFault) {
        listen = try entry.listen.checked("apple.listen")
        var providers: [String: String] = [:]
        for (index, provider) in entry.providers.enumerated() {
            guard mvpds.contains(where: { $0 == provider.mvpd }) else {
                throw SettingsFault(key: "apple.providers[\(index)].mvpd", problem: "is none of the MVPDs")
            }
            guard providers.updateValue(provider.mvpd, forKey: provider.id) == nil else {
                throw SettingsFault(key: "apple.providers[\(index)].id", problem: "is used twice")
            }
        }
        identityIssuer = entry.identityIssuer
        identityKey = resolve(entry.identityKey)
        self.providers = providers
        teams = (entry.teams ?? []).map { AppleTeamSettings($0, resolve: resolve) }
        seed = entry.seed
    }
}
