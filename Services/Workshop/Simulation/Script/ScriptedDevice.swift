internal import EntitlementClient
internal import EntitlementSimulator
internal import Foundation

/// A device of a script, with what it has heard.
final class ScriptedDevice: Sendable {
    let name: String
    let device: SimulatedDevice
    let journal: DeviceJournal
    let log = StatusLog()
    /// False: codes are shown as text.
    let hasQrCode: Bool
    private let requestor: Requestor.ID

    /// - Throws: `CommandFailure` when an address cannot be used.
    init(_ name: String, _ settings: SimulatedDevice.Settings, on setup: DeviceSetup, journal: DeviceJournal, hasQrCode: Bool = true) throws {
        let log = log
        (self.name, self.journal, self.hasQrCode, requestor) = (name, journal, hasQrCode, Requestor.ID(setup.requestor))
        device = try SimulatedDevice(settings, on: setup) { event in
            if case .status(let status) = event { log.add(status) }
            journal.event(event, device: name)
        }
    }

    /// - Parameter isConfigured: True when the app has its configuration.
    /// - Throws: Any error of the action.
    func perform(_ action: ScriptAction) async throws -> StepReport {
        switch action {
        case .configure: return try await configure()
        case .launch:
            device.relaunch()
            return try await configure()
        case .status: return await status()
        case .providers: return try await providers()
        case .signIn(let order): return try await signIn(order)
        case .preflight(let resources): return try await preflight(resources)
        case .play(let resource): return try await play(resource)
        case .metadata(let key): return try await metadata(key)
        case .logout: return try await logout()
        case .autoSignIn(let order): return try await autoSignIn(order)
        case .clock(let change): return self.clock(change)
        case .network(let fault): return network(fault)
        case .settings(let change): return settings(change)
        }
    }

    private func configure() async throws -> StepReport {
        do {
            try await device.client.configure(requestor: requestor)
        } catch {
            tell("setRequestorComplete", [0])
            throw error
        }
        tell("setRequestorComplete", [1])
        return StepReport(text: "\(requestor) is set up", session: await session())
    }

    private func status() async -> StepReport {
        let state = await device.client.authenticationState()
        tellEnd(state)
        guard case .authenticated(let session) = state else { return StepReport(text: "nobody is signed in") }
        return StepReport(text: Self.text(session), session: session)
    }

    private func providers() async throws -> StepReport {
        let providers = try await device.client.providers()
        tell("displayProviderDialog", [.array(providers.map { .string($0.id.rawValue) })])
        return StepReport(
            text: "\(providers.count) providers",
            details: providers.map { "\($0.id.rawValue.padding(toLength: 16, withPad: " ", startingAt: 0)) \($0.displayName)" })
    }

    private func signIn(_ order: ScriptAction.SignIn) async throws -> StepReport {
        let filter = order.filter.map { ProviderFilter(providers: $0.map { Provider.ID($0) }) }
        let viewer = SimulatedViewer(
            device, provider: order.provider, order.conduct,
            shown: { [self] code in
                tell("status", [.object(["errorId": "REGCODE", "level": "success", "code": .string(code.code)])])
                guard order.conduct == .waits else { return }
                CodeText(code, gateway: device.setup.gateway).lines(journal.console, hasQrCode: hasQrCode).forEach { journal.console.line($0) }
            })
        do {
            let session = try await viewer.play { try await $0.authenticate(force: order.isForced, filter: filter, interaction: $1) }
            tellEnd(.authenticated(session))
            return StepReport(text: Self.text(session), session: session)
        } catch {
            let isGivenUp = error as? EntitlementError == .providerNotSelected
            tell(
                "setAuthenticationStatus",
                [0, .string(isGivenUp ? DelegateConstants.PROVIDER_NOT_SELECTED_ERROR : DelegateConstants.GENERIC_AUTHENTICATION_ERROR)])
            throw error
        }
    }

    private func preflight(_ resources: [String]) async throws -> StepReport {
        let decisions = try await device.client.preauthorize(resources.map { Resource.ID($0) })
        let permitted = decisions.filter(\.isAuthorized).map(\.resource.rawValue)
        tell("preauthorizedResources", [.array(permitted.map { .string($0) })])
        return StepReport(
            text: "\(permitted.count) of \(decisions.count) resources are part of the subscription", session: await session(), permitted: permitted,
            details: decisions.map { "\($0.isAuthorized ? "open  " : "locked") \($0.resource)\($0.status?.details.map { "  \($0)" } ?? "")" })
    }

    private func play(_ resource: String) async throws -> StepReport {
        let token: MediaToken
        do {
            token = try await device.client.authorize(Resource.ID(resource))
        } catch EntitlementError.denied(let denial) {
            tell("tokenRequestFailed", [.string(resource), .string(denial.code.rawValue), .string(denial.text)])
            throw EntitlementError.denied(denial)
        }
        tell("setToken", [DeviceJournal.shortened(token.serialized), .string(resource)])
        let report = try await PlayedToken.verify(token, on: device.setup)
        return StepReport(
            text: "\(resource) plays: media token of \(token.serialized.utf8.count) bytes, verified", session: await session(),
            details: report.rows.map { "\($0.name) \($0.value)" })
    }

    private func metadata(_ key: String) async throws -> StepReport {
        let answer = try await device.client.metadata(Self.key(key))
        tell("setMetadataStatus", [answer.value ?? .null, .bool(answer.isEncrypted), .string(key)])
        let value = answer.text ?? answer.value.flatMap { try? JSONEncoder().encode($0) }.map { String(decoding: $0, as: UTF8.self) }
        guard let value else { return StepReport(text: "\(key) has no value", session: await session()) }
        return StepReport(text: "\(key) is \(answer.isEncrypted ? "encrypted" : value)", session: await session(), value: value)
    }

    private func logout() async throws -> StepReport {
        let conduct: SimulatedViewer.Conduct = .signsIn(device.settings.person)
        let viewer = SimulatedViewer(device, provider: nil, conduct)
        let result = try await device.client.signOut(interaction: viewer)
        tell("setAuthenticationStatus", [0, .string(DelegateConstants.USER_NOT_AUTHENTICATED_ERROR)])
        return StepReport(text: result.mustSignOutInSettings ? "signed out here; the platform stays signed in, see its settings" : "signed out")
    }

    private func autoSignIn(_ order: ScriptAction.AutoSignIn) async throws -> StepReport {
        switch order {
        case .status:
            guard let platform = device.autoSignIn else {
                throw DeviceFailure(.usage, nil, "the device has no Apple Account: give --apple-account NAME")
            }
            let token = try await platform.token()
            return StepReport(
                text: "\(token.value == nil ? "the Apple Account holds no value" : "the Apple Account holds a value") (\(token.authorization))",
                session: await session(), value: token.value == nil ? "none" : "present")
        case .enable:
            guard try await device.client.enableAutomaticSignIn() else {
                throw DeviceFailure(.refused, nil, "automatic sign-in is not wanted, or the device has no Apple Account")
            }
            return StepReport(text: "automatic sign-in is on for the Apple Account's devices", session: await session())
        case .redeem:
            guard let session = try await device.client.redeemAutomaticSignIn() else {
                throw DeviceFailure(.refused, .notAuthenticated, "the Apple Account holds no value that signs in: an ordinary sign-in follows")
            }
            return StepReport(text: Self.text(session) + ", without a code", session: session)
        case .disable:
            try await device.client.disableAutomaticSignIn()
            return StepReport(text: "automatic sign-in is off", session: await session())
        }
    }

    private func clock(_ change: ScriptAction.Clock) -> StepReport {
        switch change {
        case .ahead(let seconds):
            device.clock.setAhead(TimeInterval(seconds))
            return StepReport(text: "the device's clock is \(abs(seconds)) s \(seconds < 0 ? "behind" : "ahead")")
        case .pass(let seconds):
            device.clock.pass(.seconds(seconds))
            return StepReport(text: "\(seconds) s pass")
        }
    }

    private func network(_ fault: SimulatedNetwork.Fault?) -> StepReport {
        guard let fault else {
            device.network.removeFaults()
            return StepReport(text: "the network is in order")
        }
        device.network.add(fault)
        return StepReport(text: "the network goes wrong: \(fault.kind)")
    }

    private func settings(_ change: ScriptAction.Settings) -> StepReport {
        if let permission = change.permission { device.platform?.setPermission(permission) }
        if change.signsOut { device.platform?.signOutInSettings() }
        if let provider = change.provider { device.platform?.signInInSettings(provider, expiresIn: Double(change.expiresIn)) }
        return StepReport(text: "the device's settings are changed")
    }

    // MARK: - Facts

    func isConfigured() async -> Bool { (try? await device.client.providers()) != nil }

    /// The session of the person who is signed in; nothing is told of the question.
    func session() async -> Session? { await device.client.session() }

    private func tell(_ callback: String, _ arguments: [JSONValue]) { journal.callback(callback, arguments, device: name) }

    private func tellEnd(_ state: AuthenticationState) {
        if case .authenticated = state {
            tell("setAuthenticationStatus", [1, ""])
        } else {
            tell("setAuthenticationStatus", [0, .string(DelegateConstants.USER_NOT_AUTHENTICATED_ERROR)])
        }
    }

    private static func text(_ session: Session) -> String {
        "signed in at \(session.provider) (\(session.source.rawValue)) until \(session.expires.formatted(.iso8601))"
    }

    private static func key(_ name: String) -> MetadataKey {
        switch name {
        case "authenticationExpiry": .authenticationExpiry
        case "deviceID": .deviceID
        default:
            name.hasPrefix("authorizationExpiry:")
                ? .authorizationExpiry(Resource.ID(String(name.dropFirst("authorizationExpiry:".count)))) : .user(name)
        }
    }
}
