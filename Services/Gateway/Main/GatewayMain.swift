internal import Contracts
internal import GatewayAdministration
internal import GatewayEdge
internal import GatewayPublicApi
internal import Logging
internal import ServiceKit

/// The gateway as a program.
@main
struct Main {
    static func main() async {
        await ServiceProgram.run(
            "gateway", settings: GatewaySettings.self, keepsStore: false, check: { try check($0, $1) },
            doubts: { settings, common, _ in
                common.doubts(draining: Int(settings.connections.drain.components.seconds)) + settings.doubts
            }, start)
    }

    @Sendable private static func start(_ environment: ServiceEnvironment<GatewaySettings>) async throws {
        let settings = environment.settings
        let (authentication, autoSignIn) = (try environment.peer("authentication"), try environment.peer("autosignin"))
        let (config, readiness) = (try environment.peer("config"), environment.readiness)
        // Behind a balancer that takes every gateway away at once nothing is answered, not even what needs no peer.
        readiness.count(only: "catalogue", "listeners")
        let awaited = AwaitedListeners()
        readiness.require("listeners") { awaited.lacking }
        let dependencies = Dependencies(
            settings: settings, pages: try pages(settings, environment.files, environment.logger),
            authentication: AuthenticationClient(caller: authentication),
            authorization: AuthorizationClient(caller: try environment.peer("authorization")),
            administration: AdministrationClient(caller: config),
            operations: AuthenticationOperationsClient(caller: authentication), usage: UsageClient(caller: config),
            autoSignIn: AutomaticSignInClient(caller: autoSignIn),
            signInWithApple: SignInWithAppleClient(caller: autoSignIn), catalogue: try environment.catalogue(),
            autoSignInOperations: AutoSignInOperationsClient(caller: autoSignIn), logger: environment.logger,
            cluster: try ClusterView(environment), wall: environment.clock, isReady: { readiness.lacking.isEmpty })
        let publicApi = PublicApi(dependencies)
        let administration = AdministrationApi(dependencies, provider: AdministratorSignIn.provider(environment))
        let gateway = Gateway(
            dependencies, routes: RouteTable(publicApi.routes + administration.routes, administrationEntrance: administration.entrance),
            faces: Faces(publicApi.faces, administration.faces))
        var listeners = [
            listener(gateway, key: "gateway.listen", settings.endpoint, certificate: nil, environment, awaited)
        ]
        let certificates = try GatewayCertificates(settings, environment.files)
        if let tls = settings.tls, let certificate = certificates.https {
            listeners.append(listener(gateway, key: "gateway.tls.listen", tls.endpoint, certificate: certificate, environment, awaited))
        }
        listeners.append(
            listener(
                gateway, at: .administration, key: "gateway.admin.listen", settings.admin.endpoint, certificate: certificates.administration,
                environment, awaited))
        environment.run(HttpListeners(listeners: listeners.compactMap(\.self)))
        environment.drains(within: settings.connections.drain)
        certificates.attend(environment)
    }

    /// - Returns: `nil` where the settings have none.
    private static func listener(
        _ gateway: Gateway, at listenerKind: ListenerKind = .everybody, key: String, _ endpoint: (address: String, port: Int)?,
        certificate: HttpsCertificate?,
        _ environment: ServiceEnvironment<GatewaySettings>, _ awaited: AwaitedListeners
    ) -> HttpListener? {
        // The settings were checked.
        guard let endpoint else { return nil }
        let logger = environment.logger
        let scheme = certificate == nil ? "http" : "https"
        let shield = ListenerShield()
        // A settings file from before there was this listener says nothing of it: another program at its port is no reason not to serve apps.
        let isOptional = listenerKind == .administration && !environment.settings.admin.isGiven
        if !isOptional { awaited.expect(key) }
        let application = gateway.application(
            at: listenerKind, address: .hostname(endpoint.address, port: endpoint.port), certificate: certificate, logger: logger,
            requests: requestLog(logger)
        ) { port in
            shield.markBegun()
            awaited.markBegun(key)
            logger.info(
                "gateway.listening",
                metadata: ["scheme": "\(scheme)", "door": "\(listenerKind)", "address": "\(endpoint.address)", "port": "\(port ?? endpoint.port)"])
        }
        return HttpListener(
            application: application, shield: shield, key: key, endpoint: "\(endpoint.address):\(endpoint.port)", isOptional: isOptional,
            logger: logger)
    }

    /// `nil`: the logger has to write the lines itself.
    private static func requestLog(_ logger: Logger) -> RequestLog? {
        FrequentEvent("request", of: logger).map { event in
            RequestLog { line in
                event.write { fields in
                    fields.add("duration_us", line.microseconds)
                    fields.add("method", line.method)
                    fields.add("request", line.requestID)
                    fields.add("route", line.route)
                    fields.add("status", Int64(line.status))
                    fields.add("trace_id", line.trace.traceID)
                }
            }
        }
    }

    /// Checks the settings and everything they name.
    private static func check(_ settings: GatewaySettings, _ files: SettingsFiles) throws {
        _ = try pages(settings, files)
        _ = try GatewayCertificates(settings, files)
        try AdministratorSignIn.check(settings, files)
    }

    /// Checks the settings and loads the pages.
    private static func pages(_ settings: GatewaySettings, _ files: SettingsFiles, _ logger: Logger? = nil) throws -> Pages {
        if let problem = settings.problem { throw files.failure("gateway.\(problem.key)", problem.text) }
        let folder = files.path(settings.pages), languages = settings.languages.map { files.path($0) }
        do {
            return try Pages(folder: folder, publicOrigin: settings.publicOrigin, languages: languages, logger: logger)
        } catch let problem as PagesError {
            throw files.failure("gateway.pages", "cannot be used: \(problem)")
        }
    }
}
