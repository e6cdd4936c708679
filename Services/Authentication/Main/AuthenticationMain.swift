internal import AuthenticationService
internal import Contracts
internal import ServiceKit

/// The authentication service as a program.
@main
struct Main {
    static func main() async {
        await ServiceProgram.run(
            "authentication", settings: AuthenticationSettings.self, check: { _ = try keys($0, $1) },
            { environment in
                let settings = environment.settings
                let store = try environment.openStore(migrations: AuthenticationDatabase.migrations)
                environment.sweep(store, AuthenticationDatabase.sweeps)
                let transport = HTTPProviderTransport()
                environment.onStop { await transport.shutdown() }
                let service = AuthenticationService(
                    settings, keys: try keys(settings, environment.files), clientSecrets: settings.clientSecrets.map(environment.files.path),
                    transport: transport, database: AuthenticationDatabase(store, cachedSessions: settings.cachedSessions),
                    catalogue: try environment.catalogue(),
                    clock: environment.clock, logger: environment.logger)
                environment.background("provider-keys") { await service.keepProviderKeys() }
                environment.offer { registry in
                    AuthenticationMethods.register(service, in: &registry)
                    SessionsMethods.register(service, in: &registry)
                    LoginsMethods.register(service, in: &registry)
                    AuthenticationOperationsMethods.register(AuthenticationOperationsService(service), in: &registry)
                }
            })
    }

    private static func keys(_ settings: AuthenticationSettings, _ files: SettingsFiles) throws -> AuthenticationKeys {
        do {
            return try AuthenticationKeys(settings) { path, key in try files.text(path, key: key) }
        } catch let error as AuthenticationKeyError {
            throw files.failure(error.key, error.problem)
        }
    }
}
