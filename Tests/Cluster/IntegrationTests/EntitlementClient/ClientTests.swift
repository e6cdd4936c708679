@testable import ClusterCommands
@testable import CommandKit
@testable import Simulation
import EntitlementClient
import EntitlementSimulator
import Foundation
import Testing

/// The main ways of the client library, over `URLSession` against the programs of a cluster (client-sdk §5).
@Suite("Client library against a cluster", .serialized, .cluster)
struct ClientLibraryTests {
    @Test("client-sdk #1, #49, #54: a TV signs in by a second screen, plays, and signs out", arguments: ClientApp.versions)
    func signsInBySecondScreen(version: RestVersion) async throws {
        let app = try ClientApp.make(.tvOS, version)
        try await app.client.configure(requestor: "ACME1")
        #expect(await app.client.authenticationState() == .notAuthenticated(reason: "N000"))
        let session = try await app.client.authenticate(interaction: app.person(at: "NorthCable"))
        #expect(session.provider == "NorthCable" && session.source == .regular && session.expires > Date())
        let token = try await app.client.authorize("ACME1-NEWS")
        #expect(token.userID == session.userID, "client-sdk #85")
        // Version 2 tells the scrambled id in media tokens only, which no app reads.
        #expect((try app.verifiedUser(of: token) == session.userID) == (version == .v1), "client-sdk #85")
        if case .string(let id) = try await app.client.metadata(.user("userID")).value { #expect(id != session.userID) }
        #expect(!token.serialized.isEmpty && token.expires.map { $0 > Date() } == true)
        #expect(try await app.client.authorize("ACME1-NEWS").serialized != token.serialized, "each play has its own")
        #expect(
            try await app.client.preauthorize(["ACME1-NEWS", "ACME1-SPORT"]) == [
                Decision(resource: "ACME1-NEWS", isAuthorized: true), Decision(resource: "ACME1-SPORT", isAuthorized: true),
            ])
        #expect(try await app.client.metadata(.user("tokenSource")).value == nil, "client-sdk #61")
        let zip = try await app.client.metadata(.user("zip"))
        #expect(zip.isEncrypted && zip.value != nil, "client-sdk #62")
        let again = try app.relaunched()
        try await again.client.configure(requestor: "ACME1")
        #expect(await again.client.authenticationState() == .authenticated(session))
        #expect(try await again.client.signOut(interaction: app.person(at: nil)).mustSignOutInSettings == false)
        #expect(await again.client.authenticationState() == .notAuthenticated(reason: "N000"))
    }

    @Test("clients #68: an app without a statement signs in by a second screen, plays and signs out, by calls that its pair signs; others get R401")
    func signsItsCalls() async throws {
        let made = try ClientApp.make(.tvOS)
        let pair = try #require(try ClusterFile.read(made.cluster.home)?.signedRequests?["acme-legacy"])
        func app(_ secret: String) async -> ClientApp {
            let client = EntitlementClient(softwareStatement: "", environment: made.environment)
            await client.sign(with: RequestSigner(requestor: "ACME1", publicKey: pair.publicKey, secret: secret))
            return ClientApp(client: client, environment: made.environment, cluster: made.cluster)
        }
        let stranger = await app("not the pair's secret")
        await #expect(throws: EntitlementError.configurationFailed("R401")) { try await stranger.client.configure(requestor: "ACME1") }
        await #expect(throws: EntitlementError.notConfigured) { try await stranger.client.authorize("ACME1-NEWS") }
        let signing = await app(pair.secret)
        try await signing.client.configure(requestor: "ACME1")
        #expect(await signing.client.authenticationState() == .notAuthenticated(reason: "N000"))
        let session = try await signing.client.authenticate(interaction: signing.person(at: "NorthCable"))
        #expect(session.provider == "NorthCable" && session.source == .regular)
        let token = try await signing.client.authorize("ACME1-NEWS")
        #expect(try signing.verifiedUser(of: token) == session.userID)
        _ = try await signing.client.signOut(interaction: signing.person(at: nil))
        #expect(await signing.client.authenticationState() == .notAuthenticated(reason: "N000"))
    }

    @Test("client-sdk #45, #74: a phone signs in and out in its browser, back to adobepass://ios.app", arguments: ClientApp.versions)
    func signsInByBrowser(version: RestVersion) async throws {
        let app = try ClientApp.make(.iOS, version)
        try await app.client.configure(requestor: "ACME1")
        let session = try await app.client.authenticate(interaction: app.person("ben", at: "NorthCable"))
        #expect(session.provider == "NorthCable")
        _ = try await app.client.authorize("ACME1-NEWS")
        await #expect(throws: EntitlementError.self) { try await app.client.authorize("ACME1-SPORT") }
        _ = try await app.client.signOut(interaction: app.person("ben", at: nil))
        let again = try app.relaunched()
        try await again.client.configure(requestor: "ACME1")
        #expect(await again.client.authenticationState() == .notAuthenticated(reason: "N000"))
    }

    @Test("client-sdk #55: a refusal carries the provider's text", arguments: ClientApp.versions)
    func tellsRefusal(version: RestVersion) async throws {
        let app = try ClientApp.make(.iOS, version)
        try await app.client.configure(requestor: "ACME1")
        _ = try await app.client.authenticate(interaction: app.person("ben", at: "NorthCable"))
        do {
            _ = try await app.client.authorize("ACME1-SPORT")
            Issue.record("ben may not watch it")
        } catch EntitlementError.denied(let denial) {
            #expect(denial.code == .notAuthorized && denial.statusCode == "Z100" && !denial.text.isEmpty)
        }
    }

    @Test("client-sdk #11, #61, #64: an Apple TV signs in by its platform, with the provider's signed answer", arguments: ClientApp.versions)
    func signsInByPlatform(version: RestVersion) async throws {
        let app = try ClientApp.make(.tvOS, version) { environment, _, apple in
            let answers = SandboxAnswers(address: apple, account: environment.device.id, transport: environment.transport)
            let scenario = Scenario(permission: .init(initial: "granted"), system: .init(provider: "north-cable"))
            environment.providerAccounts = SimulatedPlatform(scenario, clock: environment.clock, answers: answers)
        }
        try await app.client.configure(requestor: "ACME1")
        guard case .authenticated(let session) = await app.client.authenticationState() else {
            Issue.record("the platform signs in without asking")
            return
        }
        #expect(session.source == .apple && session.provider == "NorthCable")
        #expect(try await app.client.metadata(.user("tokenSource")).text == "Apple")
        _ = try await app.client.authorize("ACME1-NEWS")
        #expect(try await app.client.signOut(interaction: app.person(at: nil)).mustSignOutInSettings)
    }

    @Test("client-sdk #15: an answer that the provider did not sign makes no session", arguments: ClientApp.versions)
    func refusesUnsignedAnswer(version: RestVersion) async throws {
        let app = try ClientApp.make(.tvOS, version) { environment, _, apple in
            let answers = SandboxAnswers(address: apple, account: environment.device.id, flaw: "unsigned", transport: environment.transport)
            let scenario = Scenario(permission: .init(initial: "granted"), system: .init(provider: "north-cable"))
            environment.providerAccounts = SimulatedPlatform(scenario, clock: environment.clock, answers: answers)
        }
        var events = app.client.events.makeAsyncIterator()
        try await app.client.configure(requestor: "ACME1")
        #expect(await app.client.authenticationState() == .notAuthenticated(reason: "N000"))
        // R14 sends no code; without an answer it would have been APPL.
        guard case .tracking = await events.next() else {
            Issue.record("the platform gave no answer")
            return
        }
    }

    @Test("client-sdk #53: a trial needs no interaction", arguments: ClientApp.versions)
    func startsTrial(version: RestVersion) async throws {
        let app = try ClientApp.make(.tvOS, version)
        try await app.client.configure(requestor: "ACME1")
        let session = try await app.client.signIn(at: "Preview10", interaction: app.person(at: nil))
        #expect(session.source == .tempPass)
        #expect(await app.client.authenticationState() == .authenticated(session))
        _ = try await app.client.authorize("ACME1-KIDS")
    }

    @Test(
        "client-sdk #73, #88: a value that one device of an Apple Account enables signs in another, until it is disabled",
        arguments: ClientApp.versions)
    func signsInAutomatically(version: RestVersion) async throws {
        let account = "client-\(UUID().uuidString)"
        func device() throws -> ClientApp {
            try ClientApp.make(.iOS, version) { environment, _, apple in
                environment.autoSignIn = SandboxAutoSignIn(
                    address: apple, account: account, bundleID: "example.acme.tv", device: environment.device.id, transport: environment.transport)
            }
        }
        let (first, second, third) = (try device(), try device(), try device())
        try await first.client.configure(requestor: "ACME1")
        #expect(try await first.client.redeemAutomaticSignIn() == nil)
        _ = try await first.client.authenticate(interaction: first.person(at: "NorthCable"))
        #expect(try await first.client.enableAutomaticSignIn())
        try await second.client.configure(requestor: "ACME1")
        #expect(try await second.client.redeemAutomaticSignIn()?.provider == "NorthCable")
        _ = try await second.client.authorize("ACME1-NEWS")
        try await first.client.disableAutomaticSignIn()
        try await third.client.configure(requestor: "ACME1")
        #expect(try await third.client.redeemAutomaticSignIn() == nil)
    }
}
