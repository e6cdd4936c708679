internal import AuthenticationService
internal import Contracts
internal import ServiceKit
internal import Tokens

/// The authentication service as a program.
@main
struct Main {
    static func main() async {
        await ServiceProgram.run(
            "authentication", settings: AuthenticationSettings.self,
            check: { settings, files in
                _ = try keys(files) { try AuthenticationKeys(settings, read: $0) }
                if let path = settings.secretsKey { _ = try keys(files) { try AuthenticationKeys.secretKeys(settings, path: path, read: $0) } }
            }, start)
    }

    @Sendable private static func start(_ environment: ServiceEnvironment<AuthenticationSettings>) async throws {
        let (settings, files) = (environment.settings, environment.files)
        let store = try environment.openStore(migrations: AuthenticationDatabase.migrations)
        environment.sweep(store, AuthenticationDatabase.sweeps)
        let transport = HTTPProviderTransport()
        environment.onStop { await transport.shutdown() }
        let keys = try Self.keys(files) { try AuthenticationKeys(settings, read: $0) }
        let secretsKey = try secretsKey(environment)
        let secretKeys = try Self.keys(files) { try AuthenticationKeys.secretKeys(settings, path: secretsKey, read: $0) }
        let accessTokenKeys = SigningKeyRotation(
            keys.accessTokens, lead: .seconds(settings.accessTokenKeyLead), tokenLife: .seconds(settings.accessTokenTTL), clock: environment.clock)
        let service = AuthenticationService(
            settings, keys: keys, accessTokenKeys: accessTokenKeys.keys, secretKeys: secretKeys,
            clientSecrets: settings.clientSecrets.map(files.path), transport: transport,
            database: AuthenticationDatabase(store, cachedSessions: settings.cachedSessions),
            catalogue: try environment.catalogue(), clock: environment.clock, logger: environment.logger)
        environment.onKeyChange(of: settings.accessTokenKeyFiles.map(files.path), named: "access_token_keys") {
            accessTokenKeys.adopt(try Self.keys(files) { try AuthenticationKeys.accessTokens(settings, read: $0) })
            service.accessTokenKeysChanged()
            return accessTokenKeys.signingKeyName
        } advance: {
            guard accessTokenKeys.advance() else { return nil }
            service.accessTokenKeysChanged()
            return accessTokenKeys.signingKeyName
        }
        environment.onChange(of: settings.keyFiles.map(files.path)) {
            do {
                try service.adopt(try Self.keys(files) { try AuthenticationKeys(settings, read: $0) })
                environment.logger.info("keys.reloaded")
            } catch {
                environment.logger.error("keys.reload_refused", metadata: ["reason": "\(error); the keys from before stay"])
            }
        }
        environment.onChange(of: ([secretsKey] + settings.olderSecretsKeys).map(files.path)) {
            do {
                try await service.adopt(secretKeys: try Self.keys(files) { try AuthenticationKeys.secretKeys(settings, path: secretsKey, read: $0) })
                environment.logger.info("secret_keys.reloaded")
            } catch {
                environment.logger.error("secret_keys.reload_refused", metadata: ["reason": "\(error)"])
            }
        }
        environment.background("provider-keys") { await service.keepProviderKeys() }
        environment.background("unused-clients") { await service.forgetUnusedClients(after: settings.clientDays, idleAfter: settings.idleClientDays) }
        environment.offer { registry in
            AuthenticationMethods.register(service, in: &registry)
            SessionsMethods.register(service, in: &registry)
            LoginsMethods.register(service, in: &registry)
            AuthenticationOperationsMethods.register(AuthenticationOperationsService(service), in: &registry)
        }
    }

    /// Where the key of kept secrets is, made when the settings name none and it is absent.
    private static func secretsKey(_ environment: ServiceEnvironment<AuthenticationSettings>) throws -> String {
        if let path = environment.settings.secretsKey { return path }
        let path = environment.dataFile("secrets.key")
        do throws(MadeKey.Unusable) {
            try MadeKey.ensure(path)
        } catch {
            throw StartFailure("\(error) (or name a file under authentication.secretsKey)")
        }
        return path
    }

    /// - Throws: `StartFailure` naming the file that cannot be used.
    private static func keys<Keys>(
        _ files: SettingsFiles, _ load: ((_ path: String, _ key: String) throws -> String) throws -> Keys
    ) throws -> Keys {
        do {
            return try load { path, key in try files.text(path, key: key) }
        } catch let error as AuthenticationKeyError {
            throw files.failure(error.key, error.problem)
        }
    }
}
