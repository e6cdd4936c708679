@testable import EntitlementClient
import EntitlementSimulator
import Foundation
import Testing

/// client-sdk §2.2, row by row.
@Suite("client-sdk §2.2: setRequestor and the platform")
@MainActor
struct LaunchTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let id: String
        var scenario = Scenario(permission: .init(initial: "granted"), system: .init(provider: "mso-harbor"))
        var providers = Provider.all
        var source: Session.Source?
        var provider = "harbor"
        var lifetime = 3600.0
        var answers: [FakeServer.Name: FakeServer.Answer] = [:]
        var degraded: Set<String> = []
        var answer: String? = "<samlp:Response/>"
        var codes: [String] = []
        /// Beside CFG.
        var calls: [FakeServer.Name] = []
        /// The source that is kept afterwards.
        var kept: Session.Source?
        var asksPlatform = true

        var testDescription: String { id }
    }

    nonisolated static func system(_ provider: String?, expiresIn: Double = 86_400, permission: String = "granted", faults: [Scenario.Fault] = [])
        -> Scenario
    {
        Scenario(
            permission: .init(initial: permission), system: provider.map { .init(provider: $0, expiresIn: expiresIn) }, faults: faults)
    }

    nonisolated static let rows: [Row] = [
        Row(id: "R1", answers: [.CFG: .status(503)], codes: ["CFG503"], asksPlatform: false),
        Row(id: "R2 #12", providers: [.plain, .trial, .dock], asksPlatform: false),
        Row(id: "R3 #10", scenario: system("mso-harbor", faults: [.init(at: "access", error: "ipc")]), codes: ["APPL"]),
        Row(id: "R4 denied #9", scenario: system("mso-harbor", permission: "denied"), source: .apple, codes: ["VSA403"], kept: .apple),
        Row(id: "R4 restricted #9", scenario: system("mso-harbor", permission: "restricted"), codes: ["VSA403"]),
        Row(id: "R5 #9", scenario: system("mso-harbor", permission: "notDetermined"), source: .apple, codes: ["VSA404"], kept: .apple),
        Row(id: "R6", scenario: system("mso-harbor", faults: [.init(at: "metadata", vsError: 3)]), source: .apple, codes: ["APPL"], kept: .apple),
        Row(id: "R7 #17", source: .regular, provider: "plain", kept: .regular),
        Row(id: "R8 #16", scenario: system(nil), source: .apple),
        Row(id: "R8 both expired", scenario: system("mso-harbor", expiresIn: -1), source: .apple, lifetime: -1),
        Row(id: "R9", scenario: system(nil)),
        Row(id: "R9 expired there", scenario: system("mso-harbor", expiresIn: -1)),
        Row(id: "R10", source: .apple, kept: .apple),
        Row(id: "R10 expired there", scenario: system("mso-harbor", expiresIn: -1), source: .apple, kept: .apple),
        Row(id: "R11 unknown", scenario: system("mso-nowhere"), source: .apple, provider: "lagoon"),
        Row(id: "R11 integration off #13", providers: [.lagoon, .plain]),
        Row(id: "R11 SSO off #13", scenario: system("mso-dock")),
        Row(id: "R11 picker #13", scenario: system("mso-quay"), source: .apple, provider: "harbor"),
        Row(id: "R11 no boarding status #84", providers: [.onPlatform("harbor", "mso-harbor", nil), .lagoon]),
        Row(id: "R12 #14", degraded: ["harbor"], calls: [.PRQ]),
        Row(id: "R13 none", answer: nil, codes: ["APPL"], calls: [.PRQ]),
        Row(id: "R13 error", scenario: system("mso-harbor", faults: [.init(at: "answer", vsError: 5)]), codes: ["APPL"], calls: [.PRQ]),
        Row(id: "R14 400 #15", answers: [.EXC: .status(400)], calls: [.PRQ, .EXC]),
        Row(id: "R14 503", answers: [.EXC: .status(503)], calls: [.PRQ, .EXC]),
        Row(id: "R14 network", answers: [.EXC: .unreachable], calls: [.PRQ, .EXC]),
        Row(id: "R14 PRQ 500", answers: [.PRQ: .status(500)], calls: [.PRQ]),
        Row(id: "R14 PRQ network", answers: [.PRQ: .unreachable], calls: [.PRQ]),
        Row(id: "R15 #11", calls: [.PRQ, .EXC, .AUN], kept: .apple),
        Row(id: "R15 expired T #18", source: .apple, lifetime: -1, calls: [.PRQ, .EXC, .AUN], kept: .apple),
        Row(id: "R15 another provider", source: .apple, provider: "lagoon", calls: [.PRQ, .EXC, .AUN], kept: .apple),
    ]

    @Test("client-sdk #70: rows R1 to R15, and the cases that they stand for", arguments: rows, RestVersion.allCases)
    func follows(row: Row, rest: RestVersion) async throws {
        let clock = TestClock()
        let platform = SimulatedPlatform(row.scenario, clock: clock, answers: FixedAnswer(row.answer))
        let app = TestApp(rest: rest, providers: row.providers, clock: clock) { $0.providerAccounts = platform }
        for (name, answer) in row.answers { app.server.always(name, answer) }
        app.server.change { $0.degraded = row.degraded }
        if let source = row.source { app.keep(source, at: row.provider, lifetime: row.lifetime) }
        let isDone = row.id != "R1"
        #expect(try await app.configure() == row.codes.map { "status(\($0))" } + ["setRequestorComplete(\(isDone ? 1 : 0))"])
        #expect(app.server.business == ([.CFG] + row.calls).said(in: rest))
        let kept = app.enabler.client.stateStore.token(of: "ACME1")
        #expect(kept?.source == row.kept)
        if row.kept == .apple, row.calls.contains(.EXC) { #expect(kept?.provider == "harbor" && clock.now < (kept?.expires ?? .distantPast)) }
        #expect(platform.calls.isEmpty != row.asksPlatform)
        #expect(!platform.calls.contains(.access(prompting: true)), "no prompt")
    }

    @Test("client-sdk #61: after R15 tokenSource is Apple, after an ordinary login it is not", arguments: RestVersion.allCases)
    func tellsSource(rest: RestVersion) async throws {
        let app = TestApp(rest: rest, scenario: Self.system("mso-harbor"))
        try await app.configure()
        let question: [String: JSONValue] = [DelegateConstants.METADATA_OPCODE_KEY: 3, DelegateConstants.METADATA_USER_META_KEY: "tokenSource"]
        try await app.until("setMetadataStatus(3)") { app.enabler.getMetadata(question) }
        #expect(app.metadata[0].value == "Apple")
        let other = TestApp(rest: rest)
        try await other.configure()
        try await other.signInOrdinarily()
        try await other.until("setMetadataStatus(3)") { other.enabler.getMetadata(question) }
        #expect(other.metadata[0].value == nil)
    }

    @Test("client-sdk #44: the exchange gets the exact bytes, encoded once")
    func encodesAnswer() async throws {
        let clock = TestClock()
        let text = " \t<samlp:Response\tID=\"_1\"   Version=\"2.0\">\r\n  <a>b \t c</a>\n</samlp:Response>\n"
        let platform = SimulatedPlatform(Self.system("mso-harbor"), clock: clock, answers: FixedAnswer(text))
        let app = TestApp(clock: clock) { $0.providerAccounts = platform }
        try await app.configure()
        let call = try #require(app.server.calls(.EXC).first)
        let expected = Data(#"<samlp:Response ID="_1" Version="2.0"> <a>b c</a></samlp:Response>"#.utf8).base64EncodedString()
        #expect(call.parameters["SAMLResponse"] == expected)
        let body = String(decoding: call.request.body ?? Data(), as: UTF8.self)
        #expect(body.contains("SAMLResponse=" + expected.replacing("+", with: "%2B").replacing("/", with: "%2F").replacing("=", with: "%3D")))
        #expect(call.parameters["deviceType"] == "tvOS" && call.parameters["mvpd"] == "harbor" && call.parameters["deviceId"] == "device-1")
        let second = try #require(
            platform.calls.compactMap { call in if case .metadata(let request) = call { request } else { nil } }.last)
        #expect(second.verificationToken == "PRQ" && second.attributeNames == ["userID", "householdID"] && !second.isInterruptionAllowed)
        #expect(second.channelIdentifier == "https://saml.sp.auth.adobe.com")
    }
}
