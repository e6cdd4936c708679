package import CommandKit
internal import EntitlementClient
internal import EntitlementSimulator
internal import Foundation
internal import MediaTokenVerifier
internal import Synchronization

/// One device signs in, authorizes a channel and verifies the media token, printing each step.
package struct DeviceSession {
    /// The person who signs in on the second screen.
    package enum Viewer {
        /// The person at the terminal, with a browser of their own.
        case person(mvpd: String)
        /// A simulated one.
        case simulated(name: String, mvpd: String)
        /// Nobody: the platform has, at the stand-in Apple.
        case platform(person: String)
    }

    /// A device uses its Apple Account in this way.
    struct AppleAccountUse {
        let name: String
        /// The person's answer to the sheet.
        let approves: @Sendable () async -> Bool
        /// True: ends automatic sign-in instead of watching.
        let endsEverything: Bool
    }

    let console: Console
    let setup: DeviceSetup
    let resource: String
    let viewer: Viewer
    var hasQrCode = true
    var pollInterval: Duration = .seconds(5)
    /// Given for a device of an Apple Account.
    var appleAccount: AppleAccountUse?
    /// Keeps the device's sessions; `nil`: memory.
    var folder: URL?

    package init(console: Console, setup: DeviceSetup, resource: String, viewer: Viewer) {
        (self.console, self.setup, self.resource, self.viewer) = (console, setup, resource, viewer)
    }

    init(
        console: Console, setup: DeviceSetup, resource: String, viewer: Viewer, hasQrCode: Bool = true, pollInterval: Duration = .seconds(5),
        appleAccount: AppleAccountUse? = nil, folder: URL? = nil
    ) {
        self.init(console: console, setup: setup, resource: resource, viewer: viewer)
        self.hasQrCode = hasQrCode
        self.pollInterval = pollInterval
        self.appleAccount = appleAccount
        self.folder = folder
    }

    /// - Throws: `CommandFailure` or `DeviceFailure` at the first step that does not work.
    package func play(deviceID: String = UUID().uuidString) async throws {
        let statuses = StatusLog()
        let device = try SimulatedDevice(settings(deviceID), on: setup) { if case .status(let status) = $0 { statuses.add(status) } }
        do {
            try await signIn(device)
            if appleAccount?.endsEverything != true { try await watch(device) }
        } catch let failure as CommandFailure {
            throw failure
        } catch {
            throw DeviceFailure(error, statuses.all)
        }
    }

    private func settings(_ deviceID: String) -> SimulatedDevice.Settings {
        var settings = SimulatedDevice.Settings(id: deviceID, folder: folder, pollInterval: pollInterval)
        if case .platform(let person) = viewer {
            settings.person = person
            settings.scenario = Scenario(permission: .init(initial: "granted"), system: .init(provider: "north-cable"))
            console.line(console.faint("            \(person)'s Apple TV is signed in at North Cable, and the app may ask for it"))
        }
        if let appleAccount { (settings.appleAccount, settings.approves) = (appleAccount.name, appleAccount.approves) }
        return settings
    }

    private func signIn(_ device: SimulatedDevice) async throws {
        try await console.step("The TV's app registered, and has the providers of \(setup.requestor)") {
            try await device.client.configure(requestor: Requestor.ID(setup.requestor))
        }
        if case .platform = viewer { return try await nameSource(device) }
        let isSignedIn = if case .authenticated = await device.client.authenticationState() { true } else { false }
        if isSignedIn { console.line(console.faint("            the device is signed in already")) }
        guard let appleAccount else {
            if !isSignedIn { try await signInByCode(device) }
            return
        }
        if appleAccount.endsEverything {
            if !isSignedIn { try await signInByCode(device) }
            return try await console.step("Automatic sign-in turned off, and the devices that it signed in signed out") {
                try await device.client.disableAutomaticSignIn()
            }
        }
        guard !isSignedIn, try await !redeem(device, appleAccount.name) else { return }
        try await signInByCode(device)
        _ = try await console.step({ "Automatic sign-in on \(appleAccount.name)'s other devices: \(console.bold($0 ? "on" : "off"))" }) {
            try await device.client.enableAutomaticSignIn()
        }
    }

    private func redeem(_ device: SimulatedDevice, _ account: String) async throws -> Bool {
        let session = try await console.step({ session in
            session.map { "Signed in by the value on \(account)'s Apple Account, without a code (\($0.provider))" }
                ?? "No sign-in by \(account)'s Apple Account: an ordinary one follows"
        }) { try await device.client.redeemAutomaticSignIn() }
        return session != nil
    }

    /// The platform signed in while the app was configured.
    private func nameSource(_ device: SimulatedDevice) async throws {
        guard case .authenticated(let session) = await device.client.authenticationState(), session.source == .apple else {
            throw DeviceFailure(.refused, nil, "the platform did not sign in: does \(setup.requestor) take part, and does the MVPD know the person?")
        }
        _ = try await console.step({ "Signed in at \(session.provider) by it; user metadata: tokenSource=\(console.bold($0))" }) {
            let source = try await device.client.metadata(.user("tokenSource")).text
            guard let source, source == "Apple" else { throw CommandFailure("the session does not say that it came from Apple") }
            return source
        }
    }

    private func signInByCode(_ device: SimulatedDevice) async throws {
        let (provider, conduct): (String, SimulatedViewer.Conduct) =
            switch viewer {
            case .person(let mvpd): (mvpd, .waits)
            case .simulated(let name, let mvpd): (mvpd, .signsIn(name))
            case .platform(let person): ("NorthCable", .signsIn(person))
            }
        let watch = StepWatch()
        let viewer = SimulatedViewer(
            device, provider: provider, conduct,
            shown: { code in
                console.step("The TV got the registration code \(console.bold(code.code))", took: watch.lap())
                if conduct == .waits { CodeText(code, gateway: setup.gateway).lines(console, hasQrCode: hasQrCode).forEach { console.line($0) } }
            },
            signedIn: {
                if case .signsIn(let name) = conduct { console.step("\(name) signed in at \(provider) with that code", took: watch.lap()) }
            })
        let session = try await viewer.play { try await $0.authenticate(force: true, interaction: $1) }
        console.step("The TV polled and is signed in\(session.source == .regular ? "" : " (\(session.source.rawValue))")", took: watch.lap())
    }

    private func watch(_ device: SimulatedDevice) async throws {
        let resource = Resource.ID(resource)
        let token = try await console.step({ "The MVPD permits \($0.resource): media token issued (\($0.serialized.utf8.count) bytes)" }) {
            try await device.client.authorize(resource)
        }
        let report = try await console.step("Media token verified offline") { try await PlayedToken.verify(token, on: setup) }
        report.rows.forEach { console.line("            \(console.faint($0.name)) \($0.value)") }
        if let end = try await device.client.metadata(.authorizationExpiry(resource)).text.flatMap(Double.init) {
            let text = Date(timeIntervalSince1970: end / 1000).formatted(.iso8601)
            console.line(console.faint("            permitted until \(text)"))
        }
    }
}

/// Measures steps that follow each other.
final class StepWatch: Sendable {
    private let last = Mutex(ContinuousClock.now)

    /// Since the step before.
    func lap() -> Duration {
        last.withLock { last in
            defer { last = .now }
            return last.duration(to: .now)
        }
    }
}

/// The advanced codes that a device heard.
final class StatusLog: Sendable {
    private let statuses = Mutex<[Status]>([])

    var all: [Status] { statuses.withLock { $0 } }
    func add(_ status: Status) { statuses.withLock { $0.append(status) } }
    /// - Returns: Those since the last call.
    func take() -> [Status] {
        statuses.withLock { statuses in
            defer { statuses = [] }
            return statuses
        }
    }
}

/// A media token in the hands of the player's backend.
enum PlayedToken {
    /// - Throws: `CommandFailure` when it is not genuine, or there are no keys to say so.
    static func verify(_ token: MediaToken, on setup: DeviceSetup) async throws -> MediaTokenReport {
        try await verify(token.serialized, of: token.resource.rawValue, on: setup)
    }

    /// - Parameter token: As it was issued.
    static func verify(_ token: String, of resource: String, on setup: DeviceSetup) async throws -> MediaTokenReport {
        let keys =
            if let certificates = setup.certificates {
                try MediaTokenKeys.trusted(certificates: certificates, jwks: nil)
            } else {
                try await MediaTokenKeys.trusted(by: setup.gateway, further: setup.upstreamCertificates, setup.exchange)
            }
        let verifier = MediaTokenVerifier(trustedKeys: keys)
        let check = verifier.verify(token, requestor: setup.requestor, resource: resource)
        guard check.verdict == .valid else {
            let isStrange = check.verdict == .invalidSignature && setup.certificates == nil
            throw CommandFailure(
                "the media token is not genuine: \(check.verdict.rawValue)",
                advice: isStrange ? "where an upstream signs it, give that one's certificate with --certificate FILE" : nil)
        }
        return MediaTokenReport(check)
    }
}

/// A registration code for a person, as lines of a terminal.
struct CodeText {
    let code: RegistrationCode
    /// It is typed here.
    let address: String
    /// The same with the code in it, as the QR code says.
    let addressWithCode: String

    /// - Parameter gateway: Has the page when the servers name none.
    init(_ code: RegistrationCode, gateway: String) {
        self.code = code
        address = code.loginAddress?.absoluteString ?? "\(gateway)/activate"
        addressWithCode = code.addressWithCode?.absoluteString ?? "\(gateway)/activate?code=\(code.code)"
    }

    /// `ABC DEFG`: people read it more easily in groups; the page takes it with the blank.
    var grouped: String { "\(code.code.prefix(3)) \(code.code.dropFirst(3))" }

    /// - Parameter hasQrCode: False: text only.
    func lines(_ console: Console, hasQrCode: Bool = true) -> [String] {
        let minutes = max(1, Int(code.lifetime / .seconds(60)))
        let picture = hasQrCode ? [""] + QrCode.lines(for: addressWithCode).map { "    " + $0 } : []
        return picture + [
            "", "  On your phone or computer open  \(console.bold(address))", "  and type  \(console.bold(grouped))  for \(code.provider)", "",
            console.faint("  or open  \(addressWithCode)"),
            console.faint("  The code is good for \(minutes) minutes. Waiting ..."), "",
        ]
    }
}
