@testable import EntitlementClient
import EntitlementSimulator
import Foundation
import Synchronization
import Testing

@Suite("client-sdk: several things at once, and giving up")
@MainActor
struct ConcurrencyTests {
    static let yes = "setAuthenticationStatus(1,)"
    static let gaveUp = "setAuthenticationStatus(0,PROVIDER_NOT_SELECTED_ERROR)"

    @Test("client-sdk #68 G20: two getAuthentication calls: one final status for each, never two dialogs", arguments: RestVersion.allCases)
    func secondEndsFirst(rest: RestVersion) async throws {
        let app = TestApp(rest: rest)
        try await app.configure()
        app.whenDisplayed = { $0.enabler.setSelectedProvider("trial") }
        let callbacks = try await app.until("setAuthenticationStatus", times: 2) {
            app.enabler.getAuthentication()
            app.enabler.getAuthentication()
        }
        #expect(callbacks == [Self.gaveUp, "displayProviderDialog", Self.yes])
    }

    @Test("client-sdk #68 G20: the dialog of the first is over before that of the second opens", arguments: RestVersion.allCases)
    func secondEndsDialog(rest: RestVersion) async throws {
        let app = TestApp(rest: rest)
        try await app.configure()
        try await app.until("displayProviderDialog") { app.enabler.getAuthentication() }
        app.whenDisplayed = { $0.enabler.setSelectedProvider("trial") }
        let callbacks = try await app.until("setAuthenticationStatus", times: 2) { app.enabler.getAuthentication() }
        #expect(callbacks == [Self.gaveUp, "displayProviderDialog", Self.yes], "without N005")
    }

    @Test("client-sdk #68 G20: a picker that is open is taken away first", arguments: RestVersion.allCases)
    func secondClosesPicker(rest: RestVersion) async throws {
        let platform = OpenPicker()
        let app = TestApp(rest: rest) { $0.providerAccounts = platform }
        try await app.configure()
        try await app.until("present") { app.enabler.getAuthentication() }
        let callbacks = try await app.until("present") { app.enabler.getAuthentication() }
        #expect(callbacks == ["dismiss", Self.gaveUp, "present"])
        let end = try await app.until("setAuthenticationStatus") { app.enabler.setSelectedProvider(nil) }
        #expect(end == ["dismiss", "status(N005)", Self.gaveUp])
    }

    @Test("client-sdk #69: of 100 calls at once the callbacks come serially and once each", arguments: RestVersion.allCases)
    func answersEachOnce(rest: RestVersion) async throws {
        let app = TestApp(rest: rest)
        try await app.configure()
        try await app.signInOrdinarily("plain")
        var inside = 0
        app.whenCalled = { _, _ in
            inside += 1
            #expect(inside == 1)
            inside -= 1
        }
        for number in 0..<25 {
            app.enabler.checkAuthorization("R\(number)")
            app.enabler.checkAuthentication()
            app.enabler.getMetadata([DelegateConstants.METADATA_OPCODE_KEY: 3, DelegateConstants.METADATA_USER_META_KEY: .string("k\(number)")])
            app.enabler.checkPreauthorizedResources(["P\(number)"], cache: false)
        }
        try await app.eventually("100 results, there are \(app.visible.count)") { app.visible.count == 100 }
        await app.settle()
        #expect(app.visible.count == 100)
        for number in 0..<25 {
            #expect(app.visible.count { $0 == "setToken(R\(number))" } == 1)
            #expect(app.visible.count { $0 == "preauthorizedResources(P\(number))" } == 1)
            #expect(app.metadata.count { $0.arguments[DelegateConstants.METADATA_USER_META_KEY] == .string("k\(number)") } == 1)
        }
        #expect(app.visible.count { $0 == Self.yes } == 25)
    }

    @Test("callbacks may call back into the library", arguments: RestVersion.allCases)
    func allowsReentrancy(rest: RestVersion) async throws {
        let app = TestApp(rest: rest)
        var done = 0
        app.whenCalled = { app, callback in
            switch callback {
            case "setRequestorComplete(1)":
                app.enabler.checkAuthentication()
                app.enabler.setOptions(["visitorID": "inside"])
            case "setAuthenticationStatus(0,USER_NOT_AUTHENTICATED_ERROR)" where done == 0:
                done = 1
                app.enabler.getAuthentication()
            case "displayProviderDialog": app.enabler.setSelectedProvider("trial")
            case Self.yes where done == 1:
                done = 2
                app.enabler.getAuthorization("NEWS")
            case "setToken(NEWS)": app.enabler.logout()
            default: break
            }
        }
        app.enabler.setRequestor("ACME1")
        try await app.eventually("the logout in \(app.visible)") {
            app.visible.last == "setAuthenticationStatus(0,USER_NOT_AUTHENTICATED_ERROR)" && done == 2
        }
        #expect(
            app.visible == [
                "setRequestorComplete(1)", "status(N000)", "setAuthenticationStatus(0,USER_NOT_AUTHENTICATED_ERROR)", "displayProviderDialog",
                Self.yes,
                "status(Z011)", "setToken(NEWS)", "setAuthenticationStatus(0,USER_NOT_AUTHENTICATED_ERROR)",
            ])
    }

    @Test("five calls whose token is refused at once get one new token", arguments: RestVersion.allCases)
    func renewsTokenOnce(rest: RestVersion) async throws {
        let app = TestApp(rest: rest)
        try await app.configure()
        try await app.signInOrdinarily()
        for _ in 0..<5 { app.server.next(.META, .status(401)) }
        try await app.until("setMetadataStatus", times: 5) {
            for _ in 0..<5 {
                app.enabler.getMetadata([DelegateConstants.METADATA_OPCODE_KEY: 3, DelegateConstants.METADATA_USER_META_KEY: "userID"])
            }
        }
        #expect(app.metadata.allSatisfy { $0.value == .string(app.server.user(in: rest)) })
        #expect(app.server.calls(.TOK).count == 1)
    }

    @Test("after a 429 a storm of calls waits its second", arguments: RestVersion.allCases)
    func waitsInStorm(rest: RestVersion) async throws {
        let app = TestApp(rest: rest)
        try await app.configure()
        try await app.signInOrdinarily()
        app.server.next(.META, .status(429))
        let before = app.clock.uptime
        try await app.until("setMetadataStatus") {
            app.enabler.getMetadata([DelegateConstants.METADATA_OPCODE_KEY: 3, DelegateConstants.METADATA_USER_META_KEY: "userID"])
        }
        try await app.until("setMetadataStatus", times: 20) {
            for _ in 0..<20 {
                app.enabler.getMetadata([DelegateConstants.METADATA_OPCODE_KEY: 3, DelegateConstants.METADATA_USER_META_KEY: "userID"])
            }
        }
        #expect(app.clock.uptime - before >= .seconds(1))
        #expect(app.metadata.count { $0.value == .string(app.server.user(in: rest)) } == 20)
    }

    // MARK: - Cancellation

    /// Each call of a sign-in that can hang.
    nonisolated static let hangs: [(FakeServer.Name, RestVersion)] =
        [.RGC, .AUN, .META, .PRQ, .EXC, .LOG, .TMP].map { ($0, .v1) } + [.RGC, .AUN, .META, .PRQ, .EXC].map { ($0, .v2) }

    @Test("a task that is cancelled while a call hangs ends at once, and nothing is heard afterwards", arguments: hangs)
    func cancelsDuringCall(name: FakeServer.Name, rest: RestVersion) async throws {
        let scenario: Scenario? =
            switch name {
            case .PRQ, .EXC, .LOG: Scenario(permission: .init(initial: "notDetermined", onPrompt: "granted"), system: .init(provider: "mso-harbor"))
            default: nil
            }
        let app = TestApp(rest: rest, scenario: scenario)
        try await app.configure()
        let isTrial = name == .TMP || name == .META && rest == .v2
        if name == .LOG { app.server.change { $0.degraded = ["harbor"] } }
        if name == .META { app.server.signIn("plain") }
        app.server.always(name, .hangs)
        let client = app.enabler.client
        let person = ScriptedPerson(choice: isTrial ? "trial" : "plain")
        let task = Task { try await client.authenticate(interaction: person) }
        // Earlier events have been received too.
        let isChosen = [.RGC, .AUN, .META, .TMP].contains(name)
        try await app.eventually("\(name) hangs") { app.server.hung.withLock { $0 } > 0 && (!isChosen || app.callbacks.contains("track(2)")) }
        app.forget()
        task.cancel()
        await #expect(throws: EntitlementError.providerNotSelected) { try await task.value }
        await app.settle()
        #expect(app.callbacks.isEmpty && person.heard.withLock { $0 }.isEmpty)
        app.server.always(name, nil)
        app.server.signIn("trial")
        let next = try await client.signIn(at: "trial", interaction: person)
        #expect(next.provider == "trial", "and the client goes on")
    }

    @Test(
        "a task that is cancelled while the app or the platform does not answer ends at once", arguments: ["choose", "open", "code", "picker"],
        RestVersion.allCases)
    func cancelsDuringDialog(place: String, rest: RestVersion) async throws {
        let platform = OpenPicker()
        let app = TestApp(place == "code" ? .tvOS : .iOS, rest: rest) { if place == "picker" { $0.providerAccounts = platform } }
        try await app.configure()
        let client = app.enabler.client
        let person = ScriptedPerson(choice: "plain", hangsAt: place)
        let task = Task { try await client.authenticate(interaction: person) }
        let isChosen = place == "open" || place == "code"
        try await app.eventually("it hangs") { person.reached.withLock { $0 } == place && (!isChosen || app.callbacks.contains("track(2)")) }
        app.forget()
        task.cancel()
        await #expect(throws: EntitlementError.providerNotSelected) { try await task.value }
        await app.settle()
        #expect(app.callbacks.isEmpty)
        #expect(person.heard.withLock { $0 } == (place == "picker" ? ["dismiss"] : []), "an open picker is taken away, nothing else is heard")
    }

    @Test(
        "other operations end at once too when they are cancelled",
        arguments: [FakeServer.Name.CFG, .AUZ, .MED, .PRE, .META, .OUT].map { ($0, RestVersion.v1) }
            + [.CFG, .AUZ, .PRE, .META, .OUT].map { ($0, .v2) })
    func cancelsOperation(name: FakeServer.Name, rest: RestVersion) async throws {
        let app = TestApp(rest: rest)
        try await app.configure()
        try await app.signInOrdinarily()
        app.server.always(name, .hangs)
        let client = app.enabler.client
        let task = Task { () -> Void in
            switch name {
            case .CFG: try await client.configure(requestor: "ACME1")
            case .PRE: _ = try await client.preauthorize(["NEWS"])
            case .META: _ = try await client.metadata(.user("zip"))
            case .OUT: _ = try await client.signOut(interaction: ScriptedPerson(choice: nil))
            default: _ = try await client.authorize("NEWS")
            }
        }
        try await app.eventually("it hangs") { app.server.hung.withLock { $0 } > 0 }
        app.forget()
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        await app.settle()
        #expect(app.callbacks.isEmpty)
        #expect(try await app.check().last == (name == .OUT ? "setAuthenticationStatus(0,USER_NOT_AUTHENTICATED_ERROR)" : Self.yes))
    }

    @Test(
        "a captive portal is no session, no permission and no answer",
        arguments: [FakeServer.Name.AUN, .AUZ, .MED, .META, .PRE, .EXC, .TMP].map { ($0, RestVersion.v1) }
            + [.AUN, .AUZ, .META, .PRE, .EXC].map { ($0, .v2) })
    func meetsPortal(name: FakeServer.Name, rest: RestVersion) async throws {
        let app = TestApp(.iOS, rest: rest)
        try await app.configure()
        app.server.signIn("plain")
        app.server.always(name, .captivePortal)
        app.whenNavigated = { app, _ in app.enabler.handleExternalURL(LoginTests.end) }
        let ends = try await app.until("setAuthenticationStatus") { app.enabler.setSelectedProvider(name == .TMP ? "trial" : "plain") }
        let isSignedIn = name != .AUN && name != .TMP
        #expect(ends.last == (isSignedIn ? Self.yes : "setAuthenticationStatus(0,GENERIC_AUTHENTICATION_ERROR)"))
        try await app.until("setMetadataStatus") {
            app.enabler.getMetadata([DelegateConstants.METADATA_OPCODE_KEY: 3, DelegateConstants.METADATA_USER_META_KEY: "userID"])
        }
        if name == .META { #expect(app.metadata[0].value == nil) }
        let token = try await app.until(name == .AUZ || name == .MED || !isSignedIn ? "tokenRequestFailed" : "setToken") {
            app.enabler.checkAuthorization("NEWS")
        }
        if name == .AUZ || name == .MED { #expect(token.last == "tokenRequestFailed(NEWS,INTERNAL_AUTHORIZATION_ERROR)" && app.codes.last == "Z500") }
    }
}

/// Answers as the test sets it, or hangs and ignores cancellation.
final class ScriptedPerson: AuthenticationInteraction {
    let heard = Mutex<[String]>([])
    let reached = Mutex("")
    private let choice: Provider.ID?
    private let hangsAt: String?

    init(choice: Provider.ID?, hangsAt: String? = nil) { (self.choice, self.hangsAt) = (choice, hangsAt) }

    func chooseProvider(from: [Provider], reason: StatusCode?) async -> Provider.ID? {
        await hang("choose")
        return choice
    }

    func openLogin(_ url: URL, style: BrowserStyle) async -> URL? {
        await hang("open")
        return LoginCasesAddress.end
    }

    func showCode(_ code: RegistrationCode) async { await hang("code") }
    func present(_ picker: ProviderPicker) async { await hang("picker") }
    func dismiss(_ picker: ProviderPicker) async { heard.withLock { $0.append("dismiss") } }

    private func hang(_ place: String) async {
        guard hangsAt == place else { return }
        reached.withLock { $0 = place }
        await withCheckedContinuation { (_: CheckedContinuation<Void, Never>) in }
    }
}

enum LoginCasesAddress { static let end = URL(string: "adobepass://ios.app")! }

/// A platform with a picker that opens and stays open.
private struct OpenPicker: ProviderAccountPlatform {
    func accessStatus(prompting: Bool) async throws -> AccountAccess { .granted }

    func metadata(_ request: AccountMetadataRequest, handler: any PlatformDialogHandler) async throws -> AccountMetadata {
        guard request.isInterruptionAllowed else { return AccountMetadata() }
        await handler.present(ProviderPicker())
        await withCheckedContinuation { (_: CheckedContinuation<Void, Never>) in }
        return AccountMetadata()
    }
}
