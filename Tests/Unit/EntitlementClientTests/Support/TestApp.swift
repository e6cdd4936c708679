@testable import EntitlementClient
import EntitlementSimulator
import Foundation
import Testing

/// An app written with the original names: records each callback, and answers dialogs as the test sets it.
@MainActor
final class TestApp: ClientDelegate, ClientStatusDelegate, ClientPreauthorizeCallback {
    let clock: TestClock
    let server: FakeServer
    let store: any SecureStore
    let platform: SimulatedPlatform?
    private(set) var enabler: DelegateClient
    private(set) var callbacks: [String] = []
    private(set) var statuses: [[String: String]] = []
    private(set) var tracked: [[String]] = []
    private(set) var pages: [URL] = []
    private(set) var dialogs: [[ListedProvider]] = []
    private(set) var metadata: [(value: JSONValue?, encrypted: Bool, arguments: [String: JSONValue])] = []
    private(set) var tokens: [String] = []
    private(set) var decisions: [(decisions: [Decision], status: PreauthorizationStatus?)] = []
    private(set) var failures: [PreauthorizationStatus] = []
    private(set) var authorized: [[String]] = []
    private(set) var refusals: [(resource: String, code: String, text: String)] = []
    private var environment: ClientEnvironment

    var whenDisplayed: (TestApp) -> Void = { _ in }
    var whenNavigated: (TestApp, URL) -> Void = { _, _ in }
    var whenCalled: (TestApp, String) -> Void = { _, _ in }

    init(
        _ platformKind: DeviceDescription.Platform = .tvOS, rest: RestVersion = .v1, providers: [Provider] = Provider.all, scenario: Scenario? = nil,
        store: any SecureStore = MemoryStore(), check: StorageCheck = .none, clock: TestClock = TestClock(), server: FakeServer? = nil,
        change: (inout ClientEnvironment) -> Void = { _ in }
    ) {
        let server = server ?? FakeServer(clock: clock, providers: providers)
        (self.clock, self.server, self.store) = (clock, server, store)
        platform = scenario.map { SimulatedPlatform($0, clock: clock, answers: FixedAnswer("<samlp:Response/>")) }
        let device = DeviceDescription(platform: platformKind, model: "Test", systemVersion: "26.0", id: "device-1")
        environment = ClientEnvironment(
            server: server.url, device: device, store: store, transport: server, clock: clock, providerAccounts: platform, bundleID: "example.acme.tv"
        )
        environment.restVersion = rest
        change(&environment)
        enabler = DelegateClient(softwareStatement: "statement-1", environment: environment, storageCheck: check)
        enabler.delegate = self
        enabler.statusDelegate = self
    }

    /// The version of the API that the app speaks.
    var rest: RestVersion { environment.restVersion }

    /// Puts a session into the app's store.
    func keep(_ source: Session.Source, at provider: String, lifetime: Double, deviceID: String = "device-1") {
        enabler.client.stateStore.keep(
            StoredToken(
                requestor: "ACME1", provider: Provider.ID(provider), source: source, expires: clock.now.addingTimeInterval(lifetime),
                userID: "guid-1", deviceID: deviceID, api: rest))
    }

    /// The app is started anew on the same device.
    func relaunch(check: StorageCheck = .none, change: (inout ClientEnvironment) -> Void = { _ in }) {
        change(&environment)
        enabler = DelegateClient(softwareStatement: "statement-1", environment: environment, storageCheck: check)
        enabler.delegate = self
        enabler.statusDelegate = self
        forget()
    }

    func forget() {
        (callbacks, statuses, tracked, pages, dialogs) = ([], [], [], [], [])
        server.forgetCalls()
    }

    /// Callbacks but those for analytics.
    var visible: [String] { callbacks.filter { !$0.hasPrefix("track") } }
    var codes: [String] { statuses.compactMap { $0["errorId"] } }

    // MARK: - Operations, to their end

    @discardableResult
    func configure() async throws -> [String] {
        try await until("setRequestorComplete") { enabler.setRequestor("ACME1") }
    }

    func check() async throws -> [String] { try await until("setAuthenticationStatus") { enabler.checkAuthentication() } }

    @discardableResult
    func signIn(force: Bool = false, data: [String: String] = [:], filter: [String: [String]] = [:]) async throws -> [String] {
        try await until("setAuthenticationStatus") { enabler.getAuthentication(force: force, data: data, filter: filter) }
    }

    @discardableResult
    func logout() async throws -> [String] { try await until("setAuthenticationStatus") { enabler.logout() } }

    /// A session of an ordinary login.
    func signInOrdinarily(_ mvpd: String = "plain") async throws {
        server.signIn(mvpd)
        try await until("setAuthenticationStatus(1") { enabler.setSelectedProvider(mvpd) }
        forget()
    }

    /// - Returns: The callbacks from the operation to the one that ends it, without those for analytics.
    @discardableResult
    func until(_ end: String, times: Int = 1, _ operation: () -> Void) async throws -> [String] {
        let start = callbacks.count
        operation()
        try await eventually("\(end) in \(callbacks)") { callbacks.dropFirst(start).count { $0.hasPrefix(end) } >= times }
        await settle()
        return callbacks.dropFirst(start).filter { !$0.hasPrefix("track") }
    }

    func eventually(_ what: @autoclosure () -> String, _ condition: () -> Bool) async throws {
        let deadline = ContinuousClock.now + .seconds(60)
        while !condition() {
            guard ContinuousClock.now < deadline else {
                Issue.record("did not happen: \(what())")
                throw CancellationError()
            }
            try await Task.sleep(for: .milliseconds(1))
        }
    }

    /// Lets running tasks continue, so that an extra callback is seen.
    func settle() async { for _ in 0..<50 { await Task.yield() } }

    // MARK: - Callbacks

    private func note(_ callback: String) {
        callbacks.append(callback)
        whenCalled(self, callback)
    }

    func setRequestorComplete(_ status: Int32) { note("setRequestorComplete(\(status))") }
    func setAuthenticationStatus(_ status: Int32, errorCode code: String) { note("setAuthenticationStatus(\(status),\(code))") }
    func setToken(_ token: String, forResource resource: String) {
        tokens.append(token)
        note("setToken(\(resource))")
    }
    func tokenRequestFailed(_ resource: String, errorCode code: String, errorDescription description: String) {
        refusals.append((resource, code, description))
        note("tokenRequestFailed(\(resource),\(code))")
    }
    func preauthorizedResources(_ resources: [String]) {
        authorized.append(resources)
        note("preauthorizedResources(\(resources.joined(separator: ",")))")
    }
    func selectedProvider(_ mvpd: ListedProvider?) { note("selectedProvider(\(mvpd?.ID ?? "nil"))") }
    func displayProviderDialog(_ mvpds: [ListedProvider]) {
        dialogs.append(mvpds)
        note("displayProviderDialog")
        whenDisplayed(self)
    }
    func navigateToUrl(_ url: String) { navigate(url, "navigateToUrl") }
    func navigateToUrl(_ url: String, useSVC: Bool) { navigate(url, "navigateToUrl:useSVC:") }
    private func navigate(_ text: String, _ name: String) {
        guard let url = URL(string: text) else { return note("\(name)(broken)") }
        pages.append(url)
        note(name)
        whenNavigated(self, url)
    }
    func sendTrackingData(_ data: [String], forEventType event: Int32) {
        tracked.append(data)
        note("track(\(event))")
    }
    func setMetadataStatus(_ metadata: JSONValue?, encrypted: Bool, forKey key: Int32, andArguments arguments: [String: JSONValue]) {
        self.metadata.append((metadata, encrypted, arguments))
        note("setMetadataStatus(\(key))")
    }
    func presentTvProviderDialog(_ viewController: AnyObject?) { note("present") }
    func dismissTvProviderDialog(_ viewController: AnyObject?) { note("dismiss") }
    func status(_ status: [String: String]) {
        statuses.append(status)
        note("status(\(status["errorId"] ?? ""))")
    }
    func onResponse(_ decisions: [Decision], status: PreauthorizationStatus?) {
        self.decisions.append((decisions, status))
        note("onResponse")
    }
    func onFailure(_ status: PreauthorizationStatus) {
        failures.append(status)
        note("onFailure(\(status.code))")
    }
}
