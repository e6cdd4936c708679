@testable import EntitlementClient
import EntitlementSimulator
import Foundation
import Testing

/// client-sdk §2.4, row by row.
@Suite("client-sdk §2.4: getAuthentication")
@MainActor
struct SignInTests {
    enum Choice: Sendable {
        case provider(String)
        case nothing
    }

    struct Row: Sendable, CustomTestStringConvertible {
        let id: String
        var device = DeviceDescription.Platform.tvOS
        var scenario = Scenario(permission: .init(initial: "granted"))
        var providers = Provider.all
        var degraded: Set<String> = []
        var answers: [FakeServer.Name: FakeServer.Answer] = [:]
        var answer: String? = "<samlp:Response/>"
        /// The person's choice at the app's own picker.
        var choice = Choice.nothing
        let callbacks: [String]
        /// Beside CFG.
        var calls: [FakeServer.Name] = []
        var message: String?

        var testDescription: String { "\(id) on \(device)" }

        init(
            _ id: String, on device: DeviceDescription.Platform = .tvOS, picker: [Scenario.Choice] = [], system: String? = nil,
            permission: Scenario.Permission = .init(initial: "granted"), faults: [Scenario.Fault] = [], onboarded: [String]? = nil,
            providers: [Provider] = Provider.all, degraded: Set<String> = [], answers: [FakeServer.Name: FakeServer.Answer] = [:],
            answer: String? = "<samlp:Response/>", choice: Choice = .nothing, _ callbacks: [String], calls: [FakeServer.Name] = [],
            message: String? = nil
        ) {
            scenario = Scenario(
                permission: permission, system: system.map { .init(provider: $0) }, picker: picker, onboarded: onboarded, faults: faults)
            (self.id, self.device, self.providers, self.degraded, self.answers) = (id, device, providers, degraded, answers)
            (self.answer, self.choice, self.callbacks, self.calls, self.message) = (answer, choice, callbacks, calls, message)
        }
    }

    nonisolated static let yes = "setAuthenticationStatus(1,)"
    nonisolated static let gaveUp = ["status(N005)", "setAuthenticationStatus(0,PROVIDER_NOT_SELECTED_ERROR)"]
    nonisolated static let dialog = ["present", "dismiss"]
    /// A code, the app's picker, and the person who closes it.
    nonisolated static func display(_ code: String?) -> [String] { (code.map { ["status(\($0))"] } ?? []) + ["displayProviderDialog"] + gaveUp }

    nonisolated static let rows: [Row] = [
        Row("G2 #30", system: "mso-harbor", providers: [.plain, .dock], display(nil)),
        Row("G3 denied", permission: .init(initial: "denied"), display("VSA403")),
        Row("G3 denied at the prompt #31", permission: .init(onPrompt: "denied"), display("VSA403")),
        Row("G3 restricted", permission: .init(initial: "restricted"), display("VSA403")),
        Row("G4 #32", permission: .init(), display("VSA404")),
        Row("G5", faults: [.init(at: "access", error: "ipc")], display("VSA503"), message: "ipc"),
        Row("G6 #33", system: "mso-harbor", [yes], calls: [.PRQ, .EXC, .AUN]),
        Row("G7 #34", picker: [.init(pick: "mso-harbor")], dialog + [yes], calls: [.PRQ, .EXC, .AUN]),
        Row(
            "G7 after the prompt", picker: [.init(pick: "mso-harbor")], permission: .init(onPrompt: "granted"), dialog + [yes],
            calls: [.PRQ, .EXC, .AUN]),
        Row("G8 other #35", picker: [.init(other: true)], dialog + display("N003")),
        Row("G8 nothing #79", picker: [.init(nothing: true)], dialog + display("N003")),
        Row("G9 unknown #36", system: "mso-nowhere", display("N004")),
        Row("G9 SSO off #36", system: "mso-dock", display("N004")),
        Row("G9 no boarding status #84", system: "mso-harbor", providers: [.onPlatform("harbor", "mso-harbor", nil), .lagoon], display("N004")),
        Row(
            "G10 picker #37", picker: [.init(pick: "mso-quay")], onboarded: ["mso-harbor"], dialog + ["status(REGCODE)", yes],
            calls: [.RGC, .AUN, .META]),
        Row(
            "G10 picker #37", on: .iOS, picker: [.init(pick: "mso-quay")], onboarded: ["mso-harbor"], dialog + ["navigateToUrl", yes],
            calls: [.RGC, .AUN, .META]),
        Row(
            "G10 supported #78", picker: [.init(pick: "mso-lagoon")], onboarded: ["mso-harbor"], dialog + ["status(REGCODE)", yes],
            calls: [.RGC, .AUN, .META]),
        Row("G10 system id", system: "mso-quay", ["status(REGCODE)", yes], calls: [.RGC, .AUN, .META]),
        Row("G11 unknown #38", picker: [.init(pick: "mso-nowhere")], dialog + display("N004")),
        Row("G11 SSO off #78", picker: [.init(pick: "mso-dock")], dialog + display("N004")),
        Row("G12 #39", picker: [.init(cancel: true)], dialog + display("N005")),
        Row("G13 error 3 #40", picker: [.init(vsError: 3)], dialog + display("VSA503"), message: "simulated 3"),
        Row("G13 error 4 #40", picker: [.init(vsError: 4)], dialog + display("VSA503"), message: "simulated 4"),
        Row("G13 error 5 #40", picker: [.init(vsError: 5)], dialog + display("VSA503"), message: "simulated 5"),
        Row("G13 error 6 #40", picker: [.init(vsError: 6)], dialog + display("VSA503"), message: "simulated 6"),
        Row("G13 error 7 #40", picker: [.init(vsError: 7)], dialog + display("VSA503"), message: "simulated 7"),
        Row("G13 error of the second request", system: "mso-harbor", faults: [.init(at: "answer", vsError: 4)], display("VSA503"), calls: [.PRQ]),
        Row("G13 no answer", system: "mso-harbor", answer: nil, display("VSA503"), calls: [.PRQ]),
        Row("G13 expired #80", picker: [.init(pick: "mso-harbor", expired: true)], dialog + display("VSA503")),
        Row(
            "G13 another provider #80", system: "mso-harbor", faults: [.init(at: "answer", provider: "mso-lagoon")], display("VSA503"), calls: [.PRQ]),
        Row("G13 PRQ 503", system: "mso-harbor", answers: [.PRQ: .status(503)], display("VSA503"), calls: [.PRQ]),
        Row("G13 PRQ 400, not degraded #81", system: "mso-harbor", answers: [.PRQ: .status(400)], display("VSA503"), calls: [.PRQ, .RGC, .LOG]),
        Row(
            "G14 denied #41", system: "mso-harbor", faults: [.init(at: "answer", permission: "denied")], display("VSA403"), calls: [.PRQ]),
        Row(
            "G14 undetermined", system: "mso-harbor", faults: [.init(at: "answer", permission: "notDetermined")], display("VSA404"), calls: [.PRQ]),
        Row(
            "G15 system #42 #81", system: "mso-harbor", degraded: ["harbor"], ["status(N010)", yes], calls: [.PRQ, .RGC, .LOG, .AUN]),
        Row(
            "G15 picker", picker: [.init(pick: "mso-harbor")], degraded: ["harbor"], dialog + ["status(N010)", yes], calls: [.PRQ, .RGC, .LOG, .AUN]),
        Row("G16", system: "mso-harbor", answers: [.EXC: .status(400)], display("N500"), calls: [.PRQ, .EXC]),
        Row("G17 #39", providers: [.plain], display(nil)),
        Row(
            "G18 done #45", on: .iOS, providers: [.plain], choice: .provider("plain"), ["displayProviderDialog", "navigateToUrl", yes],
            calls: [.RGC, .AUN, .META]),
        Row(
            "G18 failed", on: .iOS, providers: [.plain], answers: [.AUN: .status(404)], choice: .provider("plain"),
            ["displayProviderDialog", "navigateToUrl", "status(N130)", "setAuthenticationStatus(0,GENERIC_AUTHENTICATION_ERROR)"],
            calls: [.RGC, .AUN]),
        Row(
            "G18 failed inside", on: .iOS, providers: [.plain], answers: [.AUN: .status(500)], choice: .provider("plain"),
            ["displayProviderDialog", "navigateToUrl", "status(N500)", "setAuthenticationStatus(0,GENERIC_AUTHENTICATION_ERROR)"],
            calls: [.RGC, .AUN]),
    ]

    @Test("client-sdk #70: rows G2 to G18, and the cases that they stand for", arguments: rows, RestVersion.allCases)
    func follows(row: Row, rest: RestVersion) async throws {
        let clock = TestClock()
        // The configuration finds no permission, so that the sign-in is the first to ask.
        let app = TestApp(row.device, rest: rest, providers: row.providers, clock: clock)
        try await app.configure()
        let platform = SimulatedPlatform(row.scenario, clock: clock, answers: FixedAnswer(row.answer))
        let store = app.store
        let signing = TestApp(row.device, rest: rest, providers: row.providers, store: store, clock: clock, server: app.server) {
            $0.providerAccounts = AfterLaunch(platform: platform)
        }
        for (name, answer) in row.answers {
            let isNone = rest == .v2 && name == .AUN && row.id == "G18 failed"
            signing.server.always(name, isNone ? .status(200, #"{"profiles":{}}"#) : answer)
        }
        signing.server.change { $0.degraded = row.degraded }
        try await signing.configure()
        signing.forget()
        signing.whenDisplayed = { app in
            if case .provider(let id) = row.choice { app.enabler.setSelectedProvider(id) } else { app.enabler.setSelectedProvider(nil) }
        }
        signing.whenNavigated = { app, _ in
            if row.answers[.AUN] == nil { app.server.signIn("plain") }
            app.enabler.handleExternalURL(URL(string: "adobepass://ios.app")!)
        }
        if row.callbacks.contains("status(REGCODE)") { clock.whenSleeping { [server = app.server] _ in server.signIn("quay") } }
        #expect(try await signing.signIn() == row.callbacks)
        #expect(signing.server.business == row.calls.said(in: rest))
        if let message = row.message { #expect(signing.statuses[0]["message"] == message) }
        if row.callbacks.last == Self.yes {
            #expect(try await signing.check().last == Self.yes)
        }
    }

    @Test("client-sdk #29 G1: authenticated gives (1,\"\") only; forced, the flow runs", arguments: RestVersion.allCases)
    func doesNothingWhenAuthenticated(rest: RestVersion) async throws {
        let app = TestApp(rest: rest)
        try await app.configure()
        try await app.signInOrdinarily()
        #expect(try await app.signIn() == [Self.yes])
        #expect(app.callbacks == [Self.yes])
        #expect(app.server.calls.isEmpty)
        app.whenDisplayed = { $0.enabler.setSelectedProvider("plain") }
        // Version 2 says that it knows the person.
        #expect(try await app.signIn(force: true) == ["displayProviderDialog"] + (rest == .v1 ? ["status(REGCODE)"] : []) + [Self.yes])
    }

    @Test("client-sdk #43: the picker's list has the filter's order; featured ones outside it are dropped", arguments: RestVersion.allCases)
    func filters(rest: RestVersion) async throws {
        let platform = Scenario(permission: .init(initial: "granted"), picker: [.init(cancel: true)])
        let app = TestApp(rest: rest, scenario: platform)
        try await app.configure()
        app.whenDisplayed = { $0.enabler.setSelectedProvider(nil) }
        try await app.signIn(filter: [
            DelegateConstants.TV_PROVIDERS: ["lagoon", "harbor", "plain"], DelegateConstants.FEATURED_TV_PROVIDERS: ["quay", "harbor"],
        ])
        let request = try #require(
            app.platform?.calls.compactMap { call in if case .metadata(let request) = call { request } else { nil } }.last)
        #expect(request.supportedProviders == ["mso-lagoon", "mso-harbor"])
        #expect(request.featuredProviders == ["mso-harbor"])
        #expect(request.isInterruptionAllowed)
        #expect(app.dialogs[0].map(\.ID) == Provider.all.map(\.id.rawValue), "the app's own picker has all")
    }

    @Test("client-sdk #82: a provider that is out of order, chosen in the app's picker, comes straight back")
    func comesStraightBack() async throws {
        let app = TestApp(.iOS)
        try await app.configure()
        app.server.change { $0.degraded = ["plain"] }
        app.whenDisplayed = { $0.enabler.setSelectedProvider("plain") }
        app.whenNavigated = { app, url in
            Task {
                let answer = try await app.server.send(HTTPRequest(.get, url))
                app.enabler.handleExternalURL(try #require(answer.header("Location").flatMap { URL(string: $0) }))
            }
        }
        #expect(try await app.signIn() == ["displayProviderDialog", "navigateToUrl", "status(N010)", Self.yes])
        #expect(try await app.check() == ["status(N010)", Self.yes])
    }

    @Test("for a provider known to be out of order the platform is told not to sign in", arguments: RestVersion.allCases)
    func tellsPlatformOfDegradation(rest: RestVersion) async throws {
        let app = TestApp(
            rest: rest,
            scenario: Scenario(permission: .init(initial: "granted"), picker: [.init(pick: "mso-harbor"), .init(pick: "mso-harbor")]))
        try await app.configure()
        app.server.change { $0.degraded = ["harbor"] }
        #expect(try await app.signIn() == Self.dialog + ["status(N010)", Self.yes])
        app.platform?.signOutInSettings()
        app.forget()
        #expect(try await app.signIn(force: true) == Self.dialog + ["status(N010)", Self.yes])
        #expect(app.server.business == [.RGC, .LOG, .AUN].said(in: rest), "no SAML")
    }
}

/// A device that asks for no permission until the requestor is set.
private actor AfterLaunch: ProviderAccountPlatform {
    private let platform: SimulatedPlatform
    private var isLaunched = false

    init(platform: SimulatedPlatform) { self.platform = platform }

    func accessStatus(prompting: Bool) async throws -> AccountAccess {
        guard isLaunched else {
            isLaunched = true
            return .denied
        }
        return try await platform.accessStatus(prompting: prompting)
    }

    func metadata(_ request: AccountMetadataRequest, handler: any PlatformDialogHandler) async throws -> AccountMetadata {
        try await platform.metadata(request, handler: handler)
    }
}
