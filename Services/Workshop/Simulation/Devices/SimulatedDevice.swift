internal import AsyncHTTPClient
package import CommandKit
internal import EntitlementClient
internal import EntitlementSimulator
internal import Foundation
internal import NIOCore
internal import NIOSSL
internal import Synchronization

/// A device with an app on it that is made with the client library.
final class SimulatedDevice: Sendable {
    /// The special settings of the device.
    struct Settings: Sendable {
        var id = UUID().uuidString
        var platform = DeviceDescription.Platform.tvOS
        /// The behaviour of its platform and of the person with the remote; `nil`: it has no single sign-on.
        var scenario: Scenario?
        /// The person at the provider, for the platform's sign-in.
        var person = "ada"
        /// Its Apple Account; `nil`: it has none.
        var appleAccount: String?
        /// The person's answer to the sheet of Automatic Sign-In.
        var approves: @Sendable () async -> Bool = { true }
        /// Keeps sessions between runs; `nil`: memory.
        var folder: URL?
        var pollInterval: Duration = .seconds(5)
        /// `X-Forwarded-For`: the limits of a cluster go by address.
        var address: String?
    }

    let setup: DeviceSetup
    let settings: Settings
    let clock: SimulatedClock
    let network: SimulatedNetwork
    let platform: SimulatedPlatform?
    private let environment: ClientEnvironment
    private let observer: @Sendable (EntitlementEvent) -> Void
    private let app: Mutex<EntitlementClient>

    /// - Parameter observer: Hears of the library's events, before the operation ends that they belong to.
    /// - Throws: `CommandFailure` when an address cannot be used.
    init(_ settings: Settings, on setup: DeviceSetup, observer: @escaping @Sendable (EntitlementEvent) -> Void = { _ in }) throws {
        var exchange = setup.exchange
        if let address = settings.address { exchange.headers.append(("X-Forwarded-For", address)) }
        let transport = ExchangeTransport(exchange: exchange)
        clock = SimulatedClock(now: settings.scenario?.clock)
        network = SimulatedNetwork(transport, clock: clock)
        let device = DeviceDescription(platform: settings.platform, model: "Simulated", systemVersion: "26.0", id: settings.id)
        var environment = ClientEnvironment(
            server: try setup.server(), device: device, store: settings.folder.map { FileStore(folder: $0) } ?? MemoryStore(), transport: network,
            clock: clock, bundleID: setup.bundleID)
        environment.pollInterval = settings.pollInterval
        if let scenario = settings.scenario {
            let answers = try Self.answers(scenario, settings, setup, transport)
            platform = SimulatedPlatform(scenario, clock: clock, answers: answers)
            environment.providerAccounts = platform
        } else {
            platform = nil
        }
        if let account = settings.appleAccount {
            environment.autoSignIn = SandboxAutoSignIn(
                address: try setup.standIn(), account: account, bundleID: setup.bundleID, device: settings.id, transport: transport,
                approves: settings.approves)
        }
        (self.setup, self.settings, self.environment, self.observer) = (setup, settings, environment, observer)
        app = Mutex(Self.start(environment, setup, observer))
    }

    /// Automatic Sign-In on its Apple Account.
    var autoSignIn: (any AutoSignInPlatform)? { environment.autoSignIn }

    /// The app that runs.
    var client: EntitlementClient { app.withLock { $0 } }

    /// Starts the app anew: what it kept in the device's storage is all it knows.
    func relaunch() {
        let client = Self.start(environment, setup, observer)
        app.withLock { $0 = client }
    }

    private static func start(
        _ environment: ClientEnvironment, _ setup: DeviceSetup, _ observer: @escaping @Sendable (EntitlementEvent) -> Void
    ) -> EntitlementClient {
        let client = EntitlementClient(softwareStatement: setup.statement, environment: environment)
        client.observe(observer)
        return client
    }

    private static func answers(
        _ scenario: Scenario, _ settings: Settings, _ setup: DeviceSetup, _ transport: ExchangeTransport
    ) throws -> any ProviderAnswers {
        if scenario.saml?.mode == "text" { return FixedAnswer(scenario.saml?.text) }
        return SandboxAnswers(
            address: try setup.standIn(), account: settings.appleAccount ?? settings.id, person: scenario.saml?.person ?? settings.person,
            flaw: scenario.saml?.flaw, transport: transport)
    }
}

/// Carries the client library's requests by the command line's own client, which knows the detours of containers.
struct ExchangeTransport: HTTPTransport {
    let exchange: HTTPExchange

    func send(_ request: HTTPRequest) async throws -> HTTPResponse {
        let headers = request.headers.map { ($0.name, $0.value) } + [("User-Agent", "boxoffice-device")]
        do {
            let answer = try await exchange.exchange(
                request.method.rawValue, request.url.absoluteString, headers: headers, body: request.body.map { ByteBuffer(bytes: $0) },
                timeout: TimeAmount(request.timeout))
            return HTTPResponse(status: answer.status, headers: answer.headers.map { HTTPHeader($0.name, $0.value) }, body: Data(answer.body))
        } catch {
            if Task.isCancelled || error is CancellationError || error as? HTTPClientError == .cancelled { throw CancellationError() }
            throw TransportFailure(error is NIOSSLError || error is NIOSSLExtraError ? .insecure : .unreachable, PlainReason.of(error))
        }
    }
}

/// Simulated devices live here: the cluster, and the app that runs on them.
package struct DeviceSetup: Sendable {
    let exchange: HTTPExchange
    /// Base URL of the gateway.
    let gateway: String
    let requestor: String
    /// The app's software statement.
    let statement: String
    /// Base URL of the stand-in Apple; `nil` where there is none.
    var apple: String?
    /// The app's bundle id at Apple.
    var bundleID = "example.acme.tv"
    /// PEM; `nil`: fetched from the gateway.
    var certificates: String?
    /// PEM of what the gateway does not publish; `nil`: nothing.
    var upstreamCertificates: String?

    package init(
        exchange: HTTPExchange, gateway: String, requestor: String, statement: String, apple: String? = nil, bundleID: String = "example.acme.tv",
        certificates: String? = nil, upstreamCertificates: String? = nil
    ) {
        self.exchange = exchange
        self.gateway = gateway
        self.requestor = requestor
        self.statement = statement
        self.apple = apple
        self.bundleID = bundleID
        self.certificates = certificates
        self.upstreamCertificates = upstreamCertificates
    }

    /// The gateway as an address.
    func server() throws -> URL {
        guard let url = URL(string: gateway), url.host != nil else {
            throw CommandFailure("'\(gateway)' is not the address of a gateway", advice: "give one like http://127.0.0.1:8080")
        }
        return url
    }

    /// The stand-in Apple as an address.
    func standIn() throws -> URL {
        guard let apple, let url = URL(string: apple) else {
            throw CommandFailure("no cluster runs here, and so no stand-in Apple", advice: "start one with ./Services/up", exit: .unreachable)
        }
        return url
    }
}
