package import Catalogue
package import Clocks
package import Contracts
package import Hummingbird
internal import HummingbirdCore
package import Logging

/// The HTTP face of the cluster: listeners, limits and routing. It owns no state, signs nothing and knows no business rule; what it answers, and how
/// it words a refusal, the modules above tell it.
package struct Gateway: Sendable {
    private let dependencies: Dependencies
    private let routes: RouteTable
    private let faces: Faces
    private let loops: LoopGuard
    private let metrics = RequestMetrics()
    /// Two, so that strangers take no place from those who administer.
    private let connections: [ListenerKind: OpenConnections]
    private let admission: Admission

    package init(_ dependencies: Dependencies, routes: RouteTable, faces: Faces) {
        self.dependencies = dependencies
        self.routes = routes
        self.faces = faces
        let settings = dependencies.settings
        loops = LoopGuard(origin: settings.originOfSignIns)
        let open = { OpenConnections(settings.connections, trusted: settings.trustedProxies, listenerKind: $0) }
        connections = [.everybody: open(.everybody), .administration: open(.administration)]
        admission = Admission(settings.overload)
    }

    /// A listener, ready to run. Those with the same kind of callers share routes and limits.
    /// - Parameters:
    ///   - listenerKind: The listeners that it is for.
    ///   - address: Where it listens.
    ///   - certificate: For HTTPS; without one it speaks plain HTTP.
    ///   - logger: Carries the service's name; each request adds its trace.
    ///   - requests: Takes a line per request; `nil`: the logger does.
    ///   - onRunning: Called with the port once requests are accepted.
    package func application(
        at listenerKind: ListenerKind = .everybody, address: BindAddress, certificate: HttpsCertificate? = nil, logger: Logger,
        requests: RequestLog? = nil,
        onRunning: @escaping @Sendable (Int?) async -> Void = { _ in }
    ) -> some ApplicationProtocol {
        // The framework tells of its own start and stop at `info`.
        var quiet = logger
        quiet.logLevel = max(.warning, logger.logLevel)
        let listener = listener(at: listenerKind, certificate: certificate, logger: logger, quiet: quiet, requests: requests)
        return Application(
            responder: listener.edge, server: HTTPServerBuilder { listener.channel(to: $0) },
            configuration: ApplicationConfiguration(address: address, backlog: 1024, reuseAddress: true),
            onServerRunning: { await onRunning($0.localAddress?.port) }, logger: quiet)
    }

    /// The common state of a listener's connections.
    struct Listener: Sendable {
        let edge: EdgeResponder
        let http1: Http1Setup
        let settings: GatewaySettings
        let certificate: HttpsCertificate?
        let connections: OpenConnections

        /// - Parameter responder: Answers what comes over HTTP/2; what comes over HTTP/1.1 goes to the edge.
        func channel(to responder: @escaping HTTPChannelHandler.Responder) -> GatewayChannel {
            GatewayChannel(
                responder: http1.loadShedder.before(responder), http1: http1, settings: settings, certificate: certificate, connections: connections)
        }
    }

    /// - Parameter quiet: Takes what the web framework says.
    func listener(
        at listenerKind: ListenerKind, certificate: HttpsCertificate?, logger: Logger, quiet: Logger, requests: RequestLog? = nil
    ) -> Listener {
        let settings = dependencies.settings
        let seconds = certificate == nil || listenerKind == .administration ? 0 : settings.tls?.strictTransportSeconds ?? 0
        let transportSecurity = seconds > 0 ? "max-age=\(seconds)" : nil
        let routes = RouteTree(self.routes.routes(at: listenerKind))
        let names = listenerKind == .administration ? AdministrationNames(settings.admin) : nil
        let edge = edge(routes, names, isSecure: certificate != nil, transportSecurity, logger, requests ?? RequestLog(logger))
        let loadShedder = LoadShedder(
            admission: admission,
            refusals: OverloadRefusals(
                routes: routes, settings: settings, faces: faces, metrics: metrics, transportSecurity: transportSecurity,
                catalogue: dependencies.catalogue, logger: logger)
        )
        let http1 = Http1Setup(
            loadShedder: loadShedder, responder: { await edge.reply(to: $0, context: $1) }, bodyTime: settings.bodyTimeout + .seconds(5),
            logger: quiet)
        return Listener(
            edge: edge, http1: http1, settings: settings, certificate: certificate,
            connections: connections[listenerKind] ?? OpenConnections(settings.connections, listenerKind: listenerKind))
    }

    private func edge(
        _ routes: RouteTree, _ names: AdministrationNames?, isSecure: Bool, _ transportSecurity: String?, _ logger: Logger, _ log: RequestLog
    ) -> EdgeResponder {
        let settings = dependencies.settings
        let refusals = Refusals(faces)
        return EdgeResponder(
            routes: routes, names: names, hosts: dependencies.hosts, responder: RouteResponder(dependencies: dependencies, refusals: refusals),
            refusals: refusals,
            metrics: metrics,
            trustedProxies: settings.trustedProxies, clientPortHeader: settings.clientPortHeader, signedPlainHTTP: settings.signedPlainHTTP,
            throttle: dependencies.throttle, loops: loops, isSecure: isSecure,
            transportSecurity: transportSecurity, logger: logger,
            log: log)
    }
}

/// The settings, peers and limits that the endpoints work with.
///
/// A class, so that handing them on costs one reference.
package final class Dependencies: Sendable {
    package let settings: GatewaySettings
    let hosts: PublicHosts
    package let pages: Pages
    package let authentication: any Authentication
    package let authorization: any Authorization
    package let administration: any Administration
    package let operations: any AuthenticationOperations
    /// `nil`: nobody can be asked for what `autosignin` holds of people.
    package let autoSignInOperations: (any AutoSignInOperations)?
    package let usage: any Usage
    package let autoSignIn: any AutomaticSignIn
    package let signInWithApple: any SignInWithApple
    package let catalogue: any CatalogueSource
    let throttle: Throttle
    package let codes: CodeGuard
    package let liveCodes: LiveCodes
    let signatures: SignatureGuard
    package let notifications: NotificationThrottle
    let shares: FairShares
    /// The services behind, copy by copy.
    package let cluster: ClusterView
    /// Tells what time it is for pages.
    package let wall: any WallClock
    /// True when this program can do its work now and is to go on.
    package let isReady: @Sendable () -> Bool

    /// - Parameters:
    ///   - autoSignInOperations: Tells what `autosignin` holds of people; `nil`: nobody does.
    ///   - logger: Told whose calls are too many.
    ///   - clock: Measures the limits by client address, application and requestor.
    ///   - cluster: For operators; by default nothing is known of copies.
    ///   - wall: Tells what time it is for pages.
    ///   - isReady: True when load balancers should send requests here.
    package init(
        settings: GatewaySettings, pages: Pages, authentication: any Authentication, authorization: any Authorization,
        administration: any Administration, operations: any AuthenticationOperations, usage: any Usage, autoSignIn: any AutomaticSignIn,
        signInWithApple: any SignInWithApple, catalogue: any CatalogueSource, autoSignInOperations: (any AutoSignInOperations)? = nil,
        logger: Logger = Logger(label: "gateway"), clock: any MonotonicClock = SteadyClock(),
        cluster: ClusterView = ClusterView(), wall: any WallClock = SystemClock(), isReady: @escaping @Sendable () -> Bool = { true }
    ) {
        self.settings = settings
        hosts = PublicHosts(settings)
        self.pages = pages
        self.authentication = authentication
        self.authorization = AffineAuthorization(authorization)
        self.administration = administration
        self.operations = operations
        self.usage = usage
        self.autoSignIn = autoSignIn
        self.signInWithApple = signInWithApple
        self.catalogue = catalogue
        throttle = Throttle(settings: settings.throttle, clock: clock)
        codes = CodeGuard(exempt: settings.throttle.exempt, clock: clock)
        liveCodes = LiveCodes(settings: settings.throttle, clock: clock)
        signatures = SignatureGuard(exempt: settings.throttle.exempt, clock: clock)
        notifications = NotificationThrottle(exempt: settings.throttle.exempt, clock: clock)
        shares = FairShares(settings: settings.shares, clock: clock, logger: logger)
        self.autoSignInOperations = autoSignInOperations
        self.cluster = cluster
        self.wall = wall
        self.isReady = isReady
    }
}
