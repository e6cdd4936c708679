internal import EntitlementClient
internal import EntitlementSimulator
internal import Foundation

/// Two TVs of one Apple Account, and the person with their remote.
actor TvProgram: TvShow {
    /// One TV with what it waits for.
    private struct Television {
        let device: SimulatedDevice
        let log: StatusLog
        var screen: TvScreen
        var isStarted = false
        var task: Task<Void, Never>?
        var choice: CheckedContinuation<String?, Never>?
        var answer: CheckedContinuation<Bool, Never>?
    }

    /// The parts of which the program is made.
    struct Settings: Sendable {
        var channels: [String]
        /// The Apple Account of both TVs; `nil` where there is no stand-in Apple.
        var appleAccount: String?
        /// The person who signs in at the provider, when the platform does.
        var person = "ada"
        var pollInterval: Duration = .seconds(5)
    }

    private let setup: DeviceSetup
    private let settings: Settings
    private var sets: [Television] = []
    private var current = 0
    private(set) var isOver = false
    /// The person pressed Ctrl-C.
    private(set) var isInterrupted = false

    init(_ settings: Settings, on setup: DeviceSetup) { (self.setup, self.settings) = (setup, settings) }

    /// The screen of the TV that is looked at.
    var screen: TvScreen { sets[current].screen }

    /// Switches the first TV on.
    /// - Throws: `CommandFailure` when an address cannot be used.
    func start() throws {
        for (index, name) in ["Living room", "Bedroom"].enumerated() {
            var settings = SimulatedDevice.Settings(person: settings.person, appleAccount: settings.appleAccount, pollInterval: settings.pollInterval)
            settings.approves = { [weak self] in await self?.askSheet(index) ?? false }
            if settings.appleAccount != nil { settings.scenario = Scenario(permission: .init(initial: "granted")) }
            let log = StatusLog()
            let device = try SimulatedDevice(settings, on: setup) { if case .status(let status) = $0 { log.add(status) } }
            let screen = TvScreen(name: name, brand: setup.requestor, channels: self.settings.channels.map { TvScreen.Channel(id: $0) })
            sets.append(Television(device: device, log: log, screen: screen))
        }
        launch(0)
    }

    /// Ends all that runs.
    func stop() {
        isOver = true
        for index in sets.indices {
            sets[index].task?.cancel()
            release(index)
        }
    }

    // MARK: - Keys

    func press(_ key: TvKey) {
        let index = current
        switch key {
        case .interrupt: (isOver, isInterrupted) = (true, true)
        case .up: sets[index].screen.move(-1)
        case .down: sets[index].screen.move(1)
        case .tab:
            current = (current + 1) % sets.count
            if !sets[current].isStarted { launch(current) }
        case .back: back(index)
        case .enter: enter(index)
        case .letter(let letter): press(letter, index)
        }
    }

    private func press(_ letter: Character, _ index: Int) {
        if letter == "q" { return isOver = true }
        guard case .channels = sets[index].screen.page, sets[index].screen.busy == nil else { return }
        switch letter {
        case "p": signIn(index, isForced: true)
        case "o": signOut(index)
        case "a": openSettings(index)
        default: break
        }
    }

    private func enter(_ index: Int) {
        let screen = sets[index].screen
        switch screen.page {
        case .channels where screen.busy == nil: watch(screen.channels[screen.selection].id, index)
        case .list(_, _, let choices):
            guard choices.indices.contains(screen.selection) else { return }
            sets[index].choice.take()?.resume(returning: choices[screen.selection].id)
        case .sheet: sets[index].answer.take()?.resume(returning: screen.selection == 0)
        default: break
        }
    }

    private func back(_ index: Int) {
        switch sets[index].screen.page {
        case .channels: break
        case .list: sets[index].choice.take()?.resume(returning: nil)
        case .sheet: sets[index].answer.take()?.resume(returning: false)
        case .code: sets[index].task?.cancel()
        case .playing: sets[index].screen.show(.channels)
        }
    }

    /// Nobody answers any more.
    private func release(_ index: Int) {
        sets[index].choice.take()?.resume(returning: nil)
        sets[index].answer.take()?.resume(returning: false)
    }

    // MARK: - What a TV does

    /// - Parameter busy: The message on the screen meanwhile.
    private func run(_ index: Int, _ busy: String, _ work: @escaping @Sendable (TvProgram, SimulatedDevice) async throws -> Void) {
        guard sets[index].screen.busy == nil else { return }
        sets[index].screen.busy = busy
        let device = sets[index].device
        sets[index].task = Task { [weak self] in
            guard let self else { return }
            do {
                try await work(self, device)
                await finished(index, nil)
            } catch {
                await finished(index, error)
            }
        }
    }

    private func finished(_ index: Int, _ error: (any Error)?) {
        let statuses = sets[index].log.take()
        sets[index].screen.busy = nil
        release(index)
        guard let error else { return }
        if case .playing = sets[index].screen.page {} else { sets[index].screen.show(.channels) }
        let failure = DeviceFailure(error, statuses)
        sets[index].screen.tell(failure.exit == .cancelled ? "Given up." : failure.description, isBad: failure.exit != .cancelled)
    }

    private func launch(_ index: Int) {
        sets[index].isStarted = true
        let requestor = Requestor.ID(setup.requestor)
        run(index, "Starting") { program, device in
            try await device.client.configure(requestor: requestor)
            let isAutomatic = await device.client.session() == nil ? try await device.client.redeemAutomaticSignIn() != nil : false
            try await program.look(index)
            await program.welcome(index, isAutomatic: isAutomatic)
        }
    }

    private func welcome(_ index: Int, isAutomatic: Bool) {
        guard let session = sets[index].screen.session else {
            return sets[index].screen.tell("Choose a channel and press Enter to sign in.")
        }
        switch session.source {
        case .apple: sets[index].screen.tell("Signed in at \(session.provider) by this Apple TV, without a code.")
        default: sets[index].screen.tell(isAutomatic ? "Signed in by your Apple Account, without a code." : "Welcome back.")
        }
    }

    /// Looks who is signed in and which channels are part of the subscription.
    private func look(_ index: Int) async throws {
        let (client, ids) = (sets[index].device.client, sets[index].screen.channels.map(\.id))
        let session = await client.session()
        sets[index].screen.session = session
        guard session != nil else {
            for position in sets[index].screen.channels.indices { sets[index].screen.channels[position].lock = .unknown }
            return
        }
        let decisions = try await client.preauthorize(ids.map { Resource.ID($0) })
        for decision in decisions {
            guard let position = ids.firstIndex(of: decision.resource.rawValue) else { continue }
            let reason = decision.status?.details ?? ""
            sets[index].screen.channels[position].lock = decision.isAuthorized ? .open : .locked(reason: reason)
        }
    }

    private func watch(_ channel: String, _ index: Int) {
        run(index, "Asking whether you may watch \(channel)") { program, device in
            if await device.client.session() == nil { try await program.authenticate(index, device, isForced: false) }
            await program.says(index, "Asking whether you may watch \(channel)")
            let token = try await device.client.authorize(Resource.ID(channel))
            let report = try await PlayedToken.verify(token, on: device.setup)
            await program.show(index, .playing(channel: channel, facts: Self.facts(token, report), since: .now))
        }
    }

    private static func facts(_ token: MediaToken, _ report: MediaTokenReport) -> [(name: String, value: String)] {
        [("media token", "\(token.serialized.utf8.count) bytes, verified offline")] + report.rows.map { ($0.name, $0.value) }
    }

    private func signIn(_ index: Int, isForced: Bool) {
        run(index, "Asking for the TV providers") { program, device in try await program.authenticate(index, device, isForced: isForced) }
    }

    private func authenticate(_ index: Int, _ device: SimulatedDevice, isForced: Bool) async throws {
        let session = try await device.client.authenticate(force: isForced, interaction: TvViewer(program: self, index: index))
        sets[index].screen.show(.channels)
        try await look(index)
        sets[index].screen.message = "Signed in at \(session.provider)."
        guard session.source == .regular, settings.appleAccount != nil else { return }
        let isOn = try await device.client.enableAutomaticSignIn()
        sets[index].screen.show(.channels)
        if isOn { sets[index].screen.message = "The other TV of your Apple Account needs no code now: press Tab." }
    }

    private func signOut(_ index: Int) {
        guard sets[index].screen.session != nil else { return sets[index].screen.tell("Nobody is signed in.") }
        run(index, "Signing out") { program, device in
            let result = try await device.client.signOut(interaction: TvViewer(program: program, index: index))
            try await program.look(index)
            let hint = result.mustSignOutInSettings ? " This Apple TV stays signed in: press a to change its settings." : ""
            await program.tell(index, "Signed out.\(hint)")
        }
    }

    /// Settings, TV provider: the device signs in or out, and the app comes to the front again.
    private func openSettings(_ index: Int) {
        guard let platform = sets[index].device.platform else {
            return sets[index].screen.tell("There is no stand-in Apple: start a local cluster.", isBad: true)
        }
        let requestor = Requestor.ID(setup.requestor)
        run(index, "Opening the settings") { program, device in
            let providers = try await device.client.providers().filter { $0.takesPartInPlatformSignIn && $0.displayInPlatformPicker }
            var choices = providers.compactMap { provider in
                provider.platformMappingID.map { TvScreen.Choice(id: $0, title: provider.displayName, note: "sign this device in") }
            }
            if await program.systemProvider(index) != nil {
                choices.append(TvScreen.Choice(id: "", title: "Sign out", note: "of the TV provider of this device"))
            }
            guard let chosen = await program.choose(index, "Settings: TV Provider", "The device's own, for all its apps.", choices) else {
                return await program.show(index, .channels)
            }
            if chosen.isEmpty { platform.signOutInSettings() } else { platform.signInInSettings(chosen) }
            await program.setSystem(index, chosen.isEmpty ? nil : providers.first { $0.platformMappingID == chosen }?.displayName)
            await program.show(index, .channels)
            await program.says(index, "Back in the app")
            try await device.client.configure(requestor: requestor)
            try await program.look(index)
            await program.welcome(index, isAutomatic: false)
        }
    }

    // MARK: - What runs tells

    private func show(_ index: Int, _ page: TvScreen.Page) { sets[index].screen.show(page) }
    private func says(_ index: Int, _ busy: String) { sets[index].screen.busy = busy }
    private func tell(_ index: Int, _ message: String) { sets[index].screen.tell(message) }
    private func systemProvider(_ index: Int) -> String? { sets[index].screen.systemProvider }
    private func setSystem(_ index: Int, _ name: String?) { sets[index].screen.systemProvider = name }

    /// - Returns: `nil` when the person goes back.
    private func choose(_ index: Int, _ title: String, _ note: String, _ choices: [TvScreen.Choice]) async -> String? {
        release(index)
        guard !isOver, !Task.isCancelled else { return nil }
        let busy = sets[index].screen.busy
        (sets[index].screen.busy, sets[index].screen.message) = (nil, "")
        sets[index].screen.show(.list(title: title, note: note, choices))
        let choice = await withCheckedContinuation { sets[index].choice = $0 }
        sets[index].screen.busy = busy
        return choice
    }

    func chooseProvider(_ index: Int, _ providers: [Provider], _ reason: StatusCode?) async -> Provider.ID? {
        let choices = providers.map { TvScreen.Choice(id: $0.id.rawValue, title: $0.displayName, note: $0.isTempPass ? "without an account" : "") }
        // The platform's own picker is never opened here: that it was passed over is no news.
        let note = reason.map { [.otherProvider, .pickerCancelled].contains($0) ? "" : $0.meaning } ?? ""
        let id = await choose(index, "Who provides your TV?", note, choices)
        if id != nil { sets[index].screen.show(.channels) }
        return id.map { Provider.ID($0) }
    }

    func showCode(_ index: Int, _ code: RegistrationCode) {
        sets[index].screen.busy = "Waiting for your sign-in"
        sets[index].screen.show(.code(CodeText(code, gateway: setup.gateway), until: .now + code.lifetime))
    }

    private func askSheet(_ index: Int) async -> Bool {
        release(index)
        guard !isOver else { return false }
        let busy = sets[index].screen.busy
        sets[index].screen.busy = nil
        sets[index].screen.show(
            .sheet(
                title: "Sign in automatically?",
                text: "Your other devices with this Apple Account sign in to \(setup.requestor) by themselves, without a code."))
        let answer = await withCheckedContinuation { sets[index].answer = $0 }
        sets[index].screen.busy = busy
        return answer
    }
}

/// Shows on a TV what the library asks.
struct TvViewer: AuthenticationInteraction {
    let program: TvProgram
    let index: Int

    func chooseProvider(from providers: [Provider], reason: StatusCode?) async -> Provider.ID? {
        await program.chooseProvider(index, providers, reason)
    }

    /// A TV has no browser.
    func openLogin(_ url: URL, style: BrowserStyle) async -> URL? { nil }
    func showCode(_ code: RegistrationCode) async { await program.showCode(index, code) }
    func present(_ picker: ProviderPicker) async {}
    func dismiss(_ picker: ProviderPicker) async {}
}
