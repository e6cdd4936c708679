public import Catalogue
public import Contracts
public import Hummingbird
internal import HummingbirdCore
public import Logging
internal import NIOCore

/// The HTTP face of the cluster: routes, formats, status codes, pages. It owns no state, signs nothing and knows no business rule.
public struct Gateway: Sendable {
    private let dependencies: Dependencies

    public init(
        settings: GatewaySettings, pages: Pages, authentication: any Authentication, authorization: any Authorization,
        administration: any Administration, operations: any AuthenticationOperations, catalogue: any CatalogueSource
    ) {
        dependencies = Dependencies(
            settings: settings, pages: pages, authentication: authentication, authorization: authorization, administration: administration,
            operations: operations, catalogue: catalogue)
    }

    /// The server, ready to run.
    /// - Parameters:
    ///   - address: Where it listens.
    ///   - logger: Carries the service's name; each request adds its trace.
    ///   - onRunning: Called with the port once requests are accepted.
    public func application(
        address: BindAddress, logger: Logger, onRunning: @escaping @Sendable (Int?) async -> Void = { _ in }
    ) -> some ApplicationProtocol {
        let limits = HTTP1Channel.Configuration.DecoderConfiguration(
            maxHeaderFieldSize: 32 * 1024, maxHeaderListSize: 64 * 1024, maxHeaderFieldCount: 100)
        let channel = HTTP1Channel.Configuration(idleTimeout: .seconds(60), httpDecoderConfiguration: limits)
        // The framework tells of its own start and stop at `info`.
        var quiet = logger
        quiet.logLevel = max(.warning, logger.logLevel)
        return Application(
            responder: edge(logger), server: .http1(configuration: channel),
            configuration: ApplicationConfiguration(address: address, backlog: 1024, reuseAddress: true),
            onServerRunning: { await onRunning($0.localAddress?.port) }, logger: quiet)
    }

    private func edge(_ logger: Logger) -> Edge {
        let refusals = Refusals(settings: dependencies.settings, pages: dependencies.pages, catalogue: dependencies.catalogue)
        let router = RouteInstaller(dependencies: dependencies, refusals: refusals).install(RouteTable(dependencies).routes)
        return Edge(
            router: router.buildResponder(), refusals: refusals, metrics: RequestMetrics(),
            trustedProxies: dependencies.settings.trustedProxies, logger: logger)
    }
}
