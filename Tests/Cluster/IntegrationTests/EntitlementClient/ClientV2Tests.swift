@testable import Simulation
import EntitlementClient
import EntitlementSimulator
import Foundation
import Synchronization
import Testing

/// The behaviour of the client library over version 2 of the API only (client-sdk #44, #74, #77, #81).
@Suite("Client library against a cluster, rest-v2", .serialized, .cluster)
struct ClientLibraryV2Tests {
    @Test("client-sdk #77: a phone's logout tells the server first; a page that is closed early changes nothing")
    func signsOutFirst() async throws {
        let app = try ClientApp.make(.iOS, .v2)
        try await app.client.configure(requestor: "ACME1")
        _ = try await app.client.authenticate(interaction: app.person(at: "NorthCable"))
        let window = ClosedWindow()
        _ = try await app.client.signOut(interaction: window)
        for page in window.pages.withLock({ $0 }) { #expect(!page.absoluteString.contains("access_token") && page.scheme != nil) }
        // The server has no session any more that a sign-in would find.
        let again = try await app.client.authenticate(interaction: app.person("ben", at: "NorthCable"))
        #expect(again.provider == "NorthCable")
        await #expect(throws: EntitlementError.self) { try await app.client.authorize("ACME1-SPORT") }
    }

    @Test("an app that moves to version 2 stays signed in, and back", arguments: RestVersion.allCases)
    func keepsSession(from version: RestVersion) async throws {
        let app = try ClientApp.make(.iOS, version)
        try await app.client.configure(requestor: "ACME1")
        _ = try await app.client.authenticate(interaction: app.person(at: "NorthCable"))
        let moved = try app.relaunched(version == .v1 ? .v2 : .v1)
        try await moved.client.configure(requestor: "ACME1")
        guard case .authenticated(let session) = await moved.client.authenticationState() else {
            Issue.record("the session is lost")
            return
        }
        #expect(session.provider == "NorthCable" && session.source == .regular)
        _ = try await moved.client.authorize("ACME1-NEWS")
    }

    @Test("client-sdk #81, #82: AuthN-All lets in without a page, by the app's picker and by the platform")
    func letsIn() async throws {
        let phone = try ClientApp.make(.iOS, .v2)
        let television = try ClientApp.make(.tvOS, .v2) { environment, _, apple in
            let answers = SandboxAnswers(address: apple, account: environment.device.id, transport: environment.transport)
            let scenario = Scenario(permission: .init(initial: "notDetermined", onPrompt: "granted"), system: .init(provider: "north-cable"))
            environment.providerAccounts = SimulatedPlatform(scenario, clock: environment.clock, answers: answers)
        }
        try await DegradationControl.running().during("AuthNAll", at: "ACME1") {
            try await phone.client.configure(requestor: "ACME1")
            var session: Session?
            try await Condition.wait("the rule is known") {
                session = try? await phone.client.authenticate(force: true, interaction: ClosedWindow(provider: "NorthCable"))
                return session?.source == .degraded
            }
            #expect(session?.userID.hasPrefix("95cf93bcd183214a") == true)
            _ = try await phone.client.authorize("ACME1-NEWS")
            try await television.client.configure(requestor: "ACME1")
            // Nothing can be chosen here.
            #expect(try await television.client.authenticate(interaction: ClosedWindow()).source == .degraded)
            _ = try await television.client.authorize("ACME1-NEWS")
        }
    }

    @Test("client-sdk #83: a promotional TempPass plays with a person's hash, and not without")
    func startsPromotion() async throws {
        let app = try ClientApp.make(.tvOS, .v2)
        try await app.client.configure(requestor: "ACME1")
        await #expect(throws: EntitlementError.self) { try await app.client.signIn(at: "PromoVod", interaction: ClosedWindow()) }
        let hash = (UUID().uuidString + UUID().uuidString).lowercased().filter(\.isHexDigit)
        let session = try await app.client.signIn(at: "PromoVod", data: ["email": hash], interaction: ClosedWindow())
        #expect(session.source == .tempPass)
        _ = try await app.client.authorize("ACME1-NEWS")
        let again = try app.relaunched()
        try await again.client.configure(requestor: "ACME1")
        _ = try await again.client.authorize("ACME1-NEWS")
    }

    @Test("client-sdk #58: more resources than the integration permits are one refusal")
    func refusesTooMany() async throws {
        let app = try ClientApp.make(.iOS, .v2)
        try await app.client.configure(requestor: "ACME1")
        _ = try await app.client.authenticate(interaction: app.person(at: "NorthCable"))
        do {
            _ = try await app.client.preauthorize((1...101).map { Resource.ID("R\($0)") })
            Issue.record("too many")
        } catch EntitlementError.preauthorizationFailed(let status) {
            #expect(status.code == "too_many_resources" && status.status == 403 && status.action == .configuration)
        }
    }
}

/// A person who closes each page at once.
private final class ClosedWindow: AuthenticationInteraction {
    let pages = Mutex<[URL]>([])
    private let provider: Provider.ID?

    init(provider: Provider.ID? = nil) { self.provider = provider }

    func chooseProvider(from: [Provider], reason: StatusCode?) async -> Provider.ID? { provider }
    func openLogin(_ url: URL, style: BrowserStyle) async -> URL? {
        pages.withLock { $0.append(url) }
        return nil
    }
    func showCode(_ code: RegistrationCode) async {}
    func present(_ picker: ProviderPicker) async {}
    func dismiss(_ picker: ProviderPicker) async {}
}
