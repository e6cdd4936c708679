@testable import EntitlementClient
import EntitlementSimulator
import Foundation
import Testing

/// client-sdk §3, for apps that use the actor itself.
@Suite("client-sdk §3: async surface")
@MainActor
struct AsyncSurfaceTests {
    @Test("configure, sign in, authorize, sign out", arguments: RestVersion.allCases)
    func works(rest: RestVersion) async throws {
        let app = TestApp(.iOS, rest: rest)
        let client = app.enabler.client
        await #expect(throws: EntitlementError.notConfigured) { try await client.authorize("NEWS") }
        try await client.configure(requestor: "ACME1")
        #expect(await client.authenticationState() == .notAuthenticated(reason: .notAuthenticated))
        app.server.signIn("plain")
        let session = try await client.authenticate(interaction: ScriptedPerson(choice: "plain"))
        #expect(session.provider == "plain" && session.source == .regular && session.userID == app.server.guid(in: rest))
        #expect(await client.authenticationState() == .authenticated(session))
        #expect(await client.selectedProvider()?.displayName == "Plain")
        let token = try await client.authorize("NEWS")
        #expect(token.serialized == "media-NEWS" && !"\(token)".contains("media-NEWS"))
        #expect(try await client.preauthorize(["NEWS"]) == [Decision(resource: "NEWS", isAuthorized: true)])
        #expect(try await client.metadata(.user("userID")).text == app.server.user(in: rest))
        #expect(try await client.signOut(interaction: ScriptedPerson(choice: nil)).mustSignOutInSettings == false)
    }

    @Test("errors say what went wrong", arguments: RestVersion.allCases)
    func throwsErrors(rest: RestVersion) async throws {
        let app = TestApp(.iOS, rest: rest)
        let client = app.enabler.client
        app.server.next(.CFG, .status(400))
        await #expect(throws: EntitlementError.configurationFailed(.badRequestor)) { try await client.configure(requestor: "ACME1") }
        try await client.configure(requestor: "ACME1")
        await #expect(throws: EntitlementError.providerNotSelected) { try await client.authenticate(interaction: ScriptedPerson(choice: nil)) }
        await #expect(throws: EntitlementError.authenticationFailed(.noSession)) {
            try await client.authenticate(interaction: ScriptedPerson(choice: "plain"))
        }
        await #expect(throws: EntitlementError.denied(AuthorizationDenial(code: .notAuthenticated, statusCode: nil))) {
            try await client.authorize("NEWS")
        }
    }

    @Test("events come to each listener, and end with the client")
    func sendsEvents() async throws {
        let server = FakeServer(clock: TestClock(), providers: [.plain])
        var client: EntitlementClient? = EntitlementClient(
            softwareStatement: "statement-1",
            environment: ClientEnvironment(
                server: server.url, device: DeviceDescription(platform: .tvOS, model: "m", systemVersion: "1", id: "d"), store: MemoryStore(),
                transport: server, clock: server.clock))
        let streams = [try #require(client).events, try #require(client).events]
        try await client?.configure(requestor: "ACME1")
        _ = await client?.authenticationState()
        client = nil
        for stream in streams {
            var events: [EntitlementEvent] = []
            for await event in stream { events.append(event) }
            #expect(events.count == 2)
            #expect(events.last == .status(Status(.notAuthenticated)))
        }
    }

    @Test("two configurations at once run one after the other; the last counts")
    func queuesConfigurations() async throws {
        let app = TestApp()
        let client = app.enabler.client
        app.server.next(.CFG, .status(503))
        let first = Task { try await client.configure(requestor: "ACME1") }
        try await app.eventually("the first call") { app.server.names.contains(.CFG) }
        let second = Task { try await client.configure(requestor: "ACME1") }
        await #expect(throws: EntitlementError.configurationFailed("CFG503")) { try await first.value }
        try await second.value
        #expect(await client.authenticationState() == .notAuthenticated(reason: .notAuthenticated))
    }

    @Test(
        "a scenario is read from JSON",
        arguments: [
            #"{"permission":{"initial":"notDetermined","onPrompt":"granted"},"system":{"provider":"mso-harbor","expiresIn":86400},"picker":[{"pick":"mso-lagoon"},{"other":true},{"cancel":true}],"onboarded":["mso-harbor"],"saml":{"mode":"text","text":"x"},"faults":[{"at":"metadata#2","vsError":3,"times":1},{"at":"access","error":"ipc"}],"autoSignIn":{"account":"apple-17","onPrompt":"granted"},"clock":"2031-04-05T10:00:00Z"}"#
        ])
    func readsScenario(json: String) throws {
        let scenario = try Scenario(json: Data(json.utf8))
        #expect(scenario.picker?.count == 3 && scenario.faults?[0].vsError == 3 && scenario.clock == Date(timeIntervalSince1970: 1_933_149_600))
        #expect(throws: DecodingError.self) { try Scenario(json: Data(#"{"picker":"x"}"#.utf8)) }
    }
}
