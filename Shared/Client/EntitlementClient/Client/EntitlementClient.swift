internal import Octets
public import Foundation
internal import Synchronization

/// Signs people in at their TV provider and gets media tokens for the player. It is the part of a TV Everywhere app that talks to the servers.
///
/// One instance serves an application. Begin with ``configure(requestor:endpoints:)``; calls made meanwhile wait for it.
/// Cancelling the task of a call ends the call at once; no events of it follow.
public actor EntitlementClient {
    /// From this difference on, the device's clock counts as wrong (CFG100), and the server's is used.
    static let clockTolerance: TimeInterval = 300
    /// An answer of a preauthorization is used again for this long.
    static let preauthorizationLifetime: Duration = .seconds(300)

    nonisolated let environment: ClientEnvironment
    nonisolated let stateStore: StateStore
    nonisolated let hub: EventHub
    private let softwareStatement: String
    private(set) var options = ClientOptions()
    private var linksByServer: [URL: ServerLink] = [:]
    /// Signs calls in place of an access token.
    private var signer: RequestSigner?
    var configuration: ServiceConfiguration?
    private var configuring: (id: Int, task: Task<Void, any Error>)?
    private var configurationCount = 0
    /// Providers that the servers have let people in without since the configuration was fetched.
    var degradedProviders: Set<Provider.ID> = []
    var attempt: SignInAttempt?
    var denials = DenialCounter()
    var preauthorizations = PreauthorizationCache()
    /// The `degradedProviders` of the platform; read while it shows its picker.
    nonisolated let knownDegraded = Mutex<Set<String>>([])

    /// Makes no call yet.
    /// - Parameters:
    ///   - softwareStatement: The application's signed statement (a JWT), as its registration gave it.
    ///   - environment: The device and everything else outside the library.
    ///   - storageCheck: The check of the storage now.
    public init(softwareStatement: String, environment: ClientEnvironment, storageCheck: StorageCheck = .none) {
        let hub = EventHub()
        self.softwareStatement = softwareStatement
        self.environment = environment
        self.hub = hub
        stateStore = StateStore(store: environment.store, check: storageCheck) { hub.emit(.storageFailed($0)) }
    }

    deinit { hub.finish() }

    /// The events of operations, from now on. Each call returns a stream of its own; it ends with the client.
    public nonisolated var events: AsyncStream<EntitlementEvent> { hub.stream() }

    /// Receives each event before its operation ends; there is one observer.
    package nonisolated func observe(_ observer: @escaping @Sendable (EntitlementEvent) -> Void) { hub.setSink(observer) }

    /// Changes what is sent with each call from now on.
    public func updateOptions(_ options: ClientOptions) { self.options = options }

    /// Signs calls instead of sending an access token; `nil` ends that. Version 2 of the API takes access tokens only.
    package func sign(with signer: RequestSigner?) {
        guard environment.restVersion == .v1, signer != self.signer else { return }
        self.signer = signer
        linksByServer = [:]
    }

    /// The provider of the session that is kept, whether or not it is still good; makes no call.
    public func selectedProvider() async -> Provider? {
        guard let configuration = try? await ready() else { return nil }
        return stateStore.token(of: configuration.requestor).flatMap { configuration.provider($0.provider) }
    }

    // MARK: - Configuration

    /// Fetches the requestor's configuration, and signs in by the platform if that needs no dialog (client-sdk §2.2).
    ///
    /// May be called again, for example when the app comes to the foreground: changes take effect only then.
    /// - Parameters:
    ///   - requestor: The channel or brand.
    ///   - endpoints: Servers; all are asked, and for each provider the one that answered first is asked from then on.
    ///     Without any it is ``ClientEnvironment/server``.
    /// - Throws: `EntitlementError.configurationFailed`, after an event with the same code; `CancellationError`.
    public func configure(requestor: Requestor.ID, endpoints: [URL] = []) async throws {
        let previous = configuring?.task
        configurationCount += 1
        let id = configurationCount
        let task = Task {
            defer { endConfiguration(id) }
            _ = await previous?.result
            try await runConfiguration(requestor, endpoints.isEmpty ? [environment.server] : endpoints)
        }
        configuring = (id, task)
        try await withTaskCancellationHandler {
            try await task.value
        } onCancel: {
            task.cancel()
        }
    }

    private func endConfiguration(_ id: Int) { if configuring?.id == id { configuring = nil } }

    /// The configuration, once a call of `configure` that runs is done.
    func ready() async throws -> ServiceConfiguration {
        while let task = configuring?.task {
            _ = try await abandonable(cancels: false) { await task.result }
            await Task.yield()
        }
        guard let configuration else { throw EntitlementError.notConfigured }
        return configuration
    }

    // MARK: - For the operations

    func link(to server: URL) -> ServerLink {
        if let link = linksByServer[server] { return link }
        let link = ServerLink(server: server, softwareStatement: softwareStatement, environment: environment, stateStore: stateStore, signer: signer)
        linksByServer[server] = link
        return link
    }

    /// The server of a provider.
    func api(_ configuration: ServiceConfiguration, _ provider: Provider.ID?) -> any RestAPI {
        api(configuration.requestor, configuration.link(provider), domain: configuration.domain)
    }

    func api(_ requestor: Requestor.ID, _ link: ServerLink, domain: String = "") -> any RestAPI {
        let context = ServerContext(
            link: link, options: options, requestor: requestor, domain: domain, environment: environment, stateStore: stateStore)
        return environment.restVersion.api(context)
    }

    nonisolated func emit(_ status: Status) { hub.emit(.status(status)) }
    nonisolated func track(_ tracking: Tracking) { hub.emit(.tracking(tracking)) }

    /// The time by the server's clock, as far as it is known to differ much.
    func now(_ configuration: ServiceConfiguration) -> Date {
        environment.clock.now.addingTimeInterval(configuration.clockDifference)
    }
}
