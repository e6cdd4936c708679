@testable import EntitlementClient
import EntitlementSimulator
import Foundation
import Synchronization
import Testing

/// client-sdk §2.3, row by row: the kept session and the platform's answer decide, without the network.
@Suite("client-sdk §2.3: checkAuthentication")
@MainActor
struct CheckTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let id: String
        var source: Session.Source?
        var lifetime = 3600.0
        var provider = "harbor"
        var permission = "granted"
        var system: Scenario.System? = Scenario.System(provider: "mso-harbor")
        var faults: [Scenario.Fault] = []
        var providers = Provider.all
        var deviceID = "device-1"
        let callbacks: [String]
        var isKept = true

        var testDescription: String { id }
    }

    nonisolated static let no = "setAuthenticationStatus(0,USER_NOT_AUTHENTICATED_ERROR)"
    nonisolated static let yes = "setAuthenticationStatus(1,)"
    nonisolated static let harborOff: [Provider] = {
        var harbor = Provider.harbor
        harbor.enablePlatformServices = false
        return [harbor, .plain]
    }()

    nonisolated static let rows: [Row] = [
        Row(id: "C1 #21", callbacks: ["status(N000)", no], isKept: false),
        Row(id: "C2 #20", source: .apple, lifetime: -1, system: nil, callbacks: ["status(N000)", no], isKept: false),
        Row(id: "C2 temp #28", source: .tempPass, lifetime: -1, provider: "trial", callbacks: ["status(N111)", no], isKept: false),
        Row(id: "C3 #27", source: .regular, deviceID: "device-2", callbacks: ["status(SEC412)", no], isKept: false),
        Row(id: "C4 #26", source: .regular, provider: "gone", callbacks: ["status(N000)", no]),
        Row(id: "C5", source: .regular, callbacks: [yes]),
        Row(id: "C5 denied #22", source: .regular, permission: "denied", callbacks: [yes]),
        Row(id: "C5 signed out", source: .regular, system: nil, callbacks: [yes]),
        Row(id: "C5 SSO off #25", source: .regular, providers: harborOff, callbacks: [yes]),
        Row(id: "C6 temp #28", source: .tempPass, provider: "trial", callbacks: ["status(N011)", yes]),
        Row(id: "C6 degraded", source: .degraded, callbacks: ["status(N010)", yes]),
        Row(id: "C7 #25", source: .apple, providers: harborOff, callbacks: ["status(N000)", no]),
        Row(id: "C8 denied #23", source: .apple, permission: "denied", callbacks: ["status(VSA403)", no]),
        Row(id: "C8 restricted", source: .apple, permission: "restricted", callbacks: ["status(VSA403)", no]),
        Row(id: "C9 #24", source: .apple, permission: "notDetermined", callbacks: ["status(VSA404)", no]),
        Row(id: "C10 access #24", source: .apple, faults: [.init(at: "access", error: "ipc")], callbacks: ["status(APPL_ERROR)", no]),
        Row(id: "C10 metadata", source: .apple, faults: [.init(at: "metadata", vsError: 3)], callbacks: ["status(APPL_ERROR)", no]),
        Row(id: "C11 signed out", source: .apple, system: nil, callbacks: ["status(N000)", no], isKept: false),
        Row(id: "C11 another", source: .apple, system: .init(provider: "mso-lagoon"), callbacks: ["status(N000)", no], isKept: false),
        Row(id: "C12", source: .apple, callbacks: [yes]),
        Row(id: "C12 expired there #19", source: .apple, system: .init(provider: "mso-harbor", expiresIn: -1), callbacks: [yes]),
    ]

    @Test("client-sdk #70: rows C1 to C12, and the cases that they stand for", arguments: rows, RestVersion.allCases)
    func follows(row: Row, rest: RestVersion) async throws {
        // The platform is asked during the check only: the configuration happens without its single sign-on.
        let app = TestApp(rest: rest, providers: [.plain])
        try await app.configure()
        let clock = app.clock
        let platform = SimulatedPlatform(
            Scenario(permission: .init(initial: row.permission), system: row.system, faults: row.faults), clock: clock, answers: FixedAnswer(nil))
        let late = LateAppearance(platform: platform)
        app.relaunch { $0.providerAccounts = late }
        app.server.change { $0.providers = row.providers }
        try await app.configure()
        keep(row, in: app)
        late.appear()
        app.forget()
        #expect(try await app.check() == row.callbacks)
        #expect(app.callbacks.first == "track(0)", "tracking comes first")
        #expect(app.server.calls.isEmpty, "no network")
        #expect((app.enabler.client.stateStore.token(of: "ACME1") != nil) == row.isKept)
        if row.id.hasPrefix("C5") || row.id.hasPrefix("C6") { #expect(platform.calls.isEmpty, "only a session from the platform asks it") }
    }

    private func keep(_ row: Row, in app: TestApp) {
        guard let source = row.source else { return }
        app.keep(source, at: row.provider, lifetime: row.lifetime, deviceID: row.deviceID)
    }

    @Test("client-sdk #23: after the permission is given back, 1 without a login", arguments: RestVersion.allCases)
    func comesBackWithPermission(rest: RestVersion) async throws {
        let app = TestApp(rest: rest, scenario: Scenario(permission: .init(initial: "granted"), system: .init(provider: "mso-harbor")))
        try await app.configure()
        app.platform?.setPermission(.denied)
        #expect(try await app.check() == ["status(VSA403)", Self.no])
        app.platform?.setPermission(.granted)
        app.forget()
        #expect(try await app.check() == [Self.yes])
        #expect(app.server.calls.isEmpty)
    }

    @Test("client-sdk #27: a changed device id empties the store", arguments: RestVersion.allCases)
    func clearsForeignDevice(rest: RestVersion) async throws {
        let app = TestApp(rest: rest)
        try await app.configure()
        try await app.signInOrdinarily()
        app.relaunch { $0.device.id = "device-2" }
        try await app.configure()
        #expect(try await app.check() == ["status(SEC412)", Self.no])
        #expect(app.enabler.client.stateStore.sessions.isEmpty)
    }

    @Test("client-sdk #72: a switch on the server is noticed at the next setRequestor", arguments: RestVersion.allCases)
    func noticesAtConfiguration(rest: RestVersion) async throws {
        let app = TestApp(rest: rest, scenario: Scenario(permission: .init(initial: "granted"), system: .init(provider: "mso-harbor")))
        try await app.configure()
        app.server.change { $0.providers = Self.harborOff }
        #expect(try await app.check() == [Self.yes])
        try await app.configure()
        #expect(try await app.check() == ["status(N000)", Self.no])
    }

    @Test("a check of the local store takes under a millisecond", .tags(.timing))
    func isQuick() async throws {
        let app = TestApp()
        try await app.configure()
        try await app.signInOrdinarily()
        let client = app.enabler.client
        let start = ContinuousClock.now
        for _ in 0..<200 { _ = await client.needsSignIn() }
        // Debug build on a busy machine: the bound of 1 ms is for release builds.
        #expect((ContinuousClock.now - start) / 200 < .milliseconds(5))
    }
}

/// A platform that gives no answer while the requestor is set.
private final class LateAppearance: ProviderAccountPlatform {
    private let platform: SimulatedPlatform
    private let isVisible = Mutex(false)

    init(platform: SimulatedPlatform) { self.platform = platform }

    func appear() { isVisible.withLock { $0 = true } }

    func accessStatus(prompting: Bool) async throws -> AccountAccess {
        guard isVisible.withLock({ $0 }) else { return .denied }
        return try await platform.accessStatus(prompting: prompting)
    }

    func metadata(_ request: AccountMetadataRequest, handler: any PlatformDialogHandler) async throws -> AccountMetadata {
        try await platform.metadata(request, handler: handler)
    }
}
