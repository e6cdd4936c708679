internal import Contracts
internal import GatewayService
internal import Hummingbird
internal import ServiceKit

/// The gateway as a program.
@main
struct Main {
    static func main() async {
        await ServiceProgram.run("gateway", settings: GatewaySettings.self, check: { _ = try pages($0, $1) }, start)
    }

    @Sendable private static func start(_ environment: ServiceEnvironment<GatewaySettings>) async throws {
        let settings = environment.settings
        let authentication = try environment.peer("authentication")
        let gateway = Gateway(
            settings: settings, pages: try pages(settings, environment.files), authentication: AuthenticationClient(caller: authentication),
            authorization: AuthorizationClient(caller: try environment.peer("authorization")),
            administration: AdministrationClient(caller: try environment.peer("config")),
            operations: AuthenticationOperationsClient(caller: authentication), catalogue: try environment.catalogue())
        guard let endpoint = settings.endpoint else { return }
        let logger = environment.logger
        let application = gateway.application(address: .hostname(endpoint.address, port: endpoint.port), logger: logger) { port in
            logger.info("gateway.listening", metadata: ["address": "\(endpoint.address)", "port": "\(port ?? endpoint.port)"])
        }
        environment.run(HttpListener(application: application, endpoint: settings.listen))
    }

    /// Checks the settings and loads the pages.
    private static func pages(_ settings: GatewaySettings, _ files: SettingsFiles) throws -> Pages {
        if let problem = settings.problem { throw files.failure("gateway.\(problem.key)", problem.text) }
        do {
            return try Pages(folder: files.path(settings.pages), publicOrigin: settings.publicOrigin)
        } catch let problem as PagesProblem {
            throw files.failure("gateway.pages", "cannot be used: \(problem)")
        }
    }
}
